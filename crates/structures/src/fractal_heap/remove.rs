//! Objects that leave a heap, and blocks that it gives back with the last of them.

use hyperslab_file::Result;
use hyperslab_format::heap::fractal::{self, HeapId};

use super::{WHAT, blocks, change::Change};
use crate::nodes::Nodes;

impl Change<'_> {
    /// Looks whether an object is there that is to leave the heap.
    pub(super) fn check_removed(&mut self, id: &HeapId) -> Result<()> {
        let there = !self.kept.is_removed(id)
            && match id {
                HeapId::Managed { offset, length } => {
                    let block = self.find(*offset)?;
                    let within = offset - block.offset;
                    let overhead = blocks::overhead(&self.header, self.file.widths());
                    let inside = within >= overhead && within.checked_add(*length).is_some_and(|end| end <= block.size);
                    inside && !self.free_list()?.ranges().touches(*offset, *length)
                }
                HeapId::Huge(_) | HeapId::HugeDirect(_) => self.has_huge(id)?,
                HeapId::Tiny(_) => self.header.usage.tiny_objects > 0,
            };
        if there { Ok(()) } else { self.refuse("there is no object with the id that is to be removed") }
    }

    /// Lets objects go that the file no longer names.
    pub(super) fn let_go(&mut self) -> Result<()> {
        let gone = self.kept.take_removed(self.file.flushes());
        if gone.is_empty() {
            return Ok(());
        }
        for id in gone {
            let usage = &mut self.header.usage;
            match id {
                HeapId::Managed { offset, length } => {
                    usage.managed_objects = usage.managed_objects.saturating_sub(1);
                    self.header.free = self.header.free.saturating_add(length);
                    self.free_list()?.add(offset, length);
                }
                HeapId::Tiny(bytes) => {
                    usage.tiny_objects = usage.tiny_objects.saturating_sub(1);
                    usage.tiny_size = usage.tiny_size.saturating_sub(bytes.len() as u64);
                }
                HeapId::Huge(_) | HeapId::HugeDirect(_) => self.remove_huge(&id)?,
            }
        }
        if self.header.usage.managed_objects == 0 && self.header.root.is_some() {
            self.empty()?;
        }
        self.write_header()
    }

    /// Gives back all blocks.
    fn empty(&mut self) -> Result<()> {
        for (address, size) in self.all_blocks()? {
            self.file.free(address, size)?;
        }
        self.free_list()?.clear();
        (self.header.root, self.header.root_rows, self.header.free) = (None, 0, 0);
        if let Some((_, size, mask)) = &mut self.header.filters {
            (*size, *mask) = (0, 0);
        }
        let usage = &mut self.header.usage;
        (usage.managed_size, usage.managed_allocated, usage.managed_next) = (0, 0, 0);
        Ok(())
    }

    /// Address and size of all blocks.
    pub(super) fn all_blocks(&self) -> Result<Vec<(u64, u64)>> {
        let Some(root) = self.header.root else { return Ok(Vec::new()) };
        if self.header.root_rows == 0 {
            let stored = self.header.filters.as_ref().map(|(_, size, _)| *size);
            return Ok(vec![(root, stored.unwrap_or(self.header.table.start))]);
        }
        // Indirect blocks are smaller than what is counted here, but each has a direct block.
        let mut nodes = Nodes::of(&self.file, WHAT, self.header.table.start / 4);
        let mut all = Vec::new();
        let mut left = vec![(root, u32::from(self.header.root_rows))];
        while let Some((address, rows)) = left.pop() {
            all.push((address, fractal::indirect_size(&self.header, rows, self.file.widths()) as u64));
            let children = blocks::read_indirect(self.file, &self.header, address, rows)?;
            let table = &self.header.table;
            for (row, row_children) in (0u32..).zip(children.chunks(usize::from(table.width))) {
                let size = table.block_size(row).unwrap_or(0);
                for child in row_children {
                    let Some(at) = child.address else { continue };
                    nodes.visit(at)?;
                    if row < table.direct_rows() {
                        all.push((at, child.filtered.map_or(size, |(stored, _)| stored)));
                    } else {
                        let below = table.rows_below(size).filter(|below| *below <= row);
                        left.push((at, below.ok_or_else(|| self.broken("an indirect block of no rows"))?));
                    }
                }
            }
        }
        Ok(all)
    }
}
