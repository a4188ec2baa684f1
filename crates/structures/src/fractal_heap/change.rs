//! Changing a heap. Objects go into unused bytes of direct blocks; indirect blocks are shadowed, and the header of the heap is written when they are
//! there.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::heap::fractal::{self, Child, FractalHeap as Header, HeapId, Usage};

use super::{
    DIRECT, FractalHeap, HeapHeader, Parameters, Unfilter, WHAT,
    blocks::{self, Direct, Place},
    direct::DirectBlock,
    free_list::FreeList,
    state::{Inner, State},
};
use crate::{lazy::Lazy, nodes::Nodes};

impl FractalHeap {
    /// A new heap without objects: its header.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        parameters: &Parameters,
        unfilter: Arc<Unfilter>,
    ) -> Result<FractalHeap> {
        let file = file.into();
        let bytes = parameters.header(file.widths())?.encode(file.widths())?;
        let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
        file.put(address, bytes)?;
        // Another heap may have been here.
        file.detach(address)?;
        FractalHeap::open(file, address, unfilter)
    }

    /// Adds an object; gives its id.
    pub fn insert(&mut self, file: &OpenFile, object: &[u8]) -> Result<Vec<u8>> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        let id = change.insert(object)?;
        self.touched.extend(change.touched);
        Ok(id)
    }

    /// Takes an object out. What the file still names stays as it is until the next flush; the space is used again after that.
    pub fn remove(&mut self, file: &OpenFile, id: &[u8]) -> Result<()> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        let id = HeapId::decode(id, &change.header, file.widths()).map_err(Error::at(self.address))?;
        change.check_removed(&id)?;
        inner.remove(file.flushes(), id);
        Ok(())
    }

    /// Has everything that was added through this handle written before the block at `later`, which names the objects and was changed too.
    pub fn before(&self, file: &OpenFile, later: u64) -> Result<()> {
        self.touched.iter().chain([&self.address]).try_for_each(|&block| file.order_within(block, later))
    }

    /// Gives back the space of the heap and of all its objects.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        let blocks = change.all_blocks()?;
        change.free_list()?;
        change.delete_huge()?;
        blocks.into_iter().try_for_each(|(address, size)| file.free(address, size))?;
        change.free_list()?.free(file)?;
        let size = change.header.encode(file.widths())?.len() as u64;
        file.detach(self.address)?;
        file.free(self.address, size)
    }
}

/// One change of a heap.
pub(super) struct Change<'a> {
    pub(super) file: Owned<'a>,
    pub(super) address: u64,
    pub(super) header: Header,
    /// The header as it was before.
    before: Arc<Lazy<Header>>,
    kept: &'a mut Inner,
    /// Published blocks that objects were added to.
    touched: Vec<u64>,
}

impl<'a> Change<'a> {
    pub(super) fn of(file: Owned<'a>, address: u64, kept: &'a mut Inner) -> Result<Change<'a>> {
        let before = file.load(&HeapHeader, address)?;
        Ok(Change { file, address, header: Header::clone(&before), before, kept, touched: Vec::new() })
    }

    pub(super) fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    fn refuse<T>(&self, why: impl std::fmt::Display) -> Result<T> {
        Err(Error::Refused(format!("{WHAT} at address {:#x}: {why}", self.address)))
    }

    fn write_header(&mut self) -> Result<()> {
        self.kept.touch();
        Lazy::new(self.header.clone(), &self.file).put(self.file, self.address)
    }

    pub(super) fn free_list(&mut self) -> Result<&mut FreeList> {
        if self.kept.free.is_none() {
            self.kept.free = Some(FreeList::read(&self.file, &self.header)?);
        }
        self.kept.free.as_mut().ok_or_else(|| Error::broken(WHAT, self.address, "no list of free space"))
    }

    /// Puts the free ranges into the file.
    pub(super) fn write_free(&mut self) -> Result<()> {
        let before = self.header.free_manager;
        if let Some(free) = &mut self.kept.free {
            free.write(self.file, &mut self.header)?;
        }
        if self.header.free_manager != before { self.write_header() } else { Ok(()) }
    }

    /// Takes the free ranges out of the file, if they are no longer true: they are in memory.
    pub(super) fn forget_written(&mut self) -> Result<()> {
        let Some(free) = self.kept.free.as_mut().filter(|free| free.is_changed()) else { return Ok(()) };
        free.free(&self.file)?;
        match self.header.free_manager.take() {
            Some(_) => self.write_header(),
            None => Ok(()),
        }
    }

    fn insert(&mut self, object: &[u8]) -> Result<Vec<u8>> {
        let widths = self.file.widths();
        let length = object.len() as u64;
        if object.is_empty() {
            return self.refuse("an object has one byte at least");
        }
        let tiny = usize::from(self.header.id_len) - 1;
        let tiny = if tiny <= 16 { tiny } else { (tiny - 1).max(16) };
        self.free_list()?;
        // A direct block goes through the filters as a whole; an object that lies alone may go past them.
        let alone = length > u64::from(self.header.max_managed) || self.header.filters.is_some();
        let id = if alone && object.len() > tiny {
            self.check_huge()?;
            self.let_go()?;
            self.insert_huge(object)?
        } else if object.len() <= tiny {
            let id = HeapId::Tiny(object.to_vec()).encode(&self.header, widths)?;
            self.let_go()?;
            self.header.usage.tiny_objects += 1;
            self.header.usage.tiny_size += length;
            id
        } else {
            self.let_go()?;
            let offset = match self.room(length)? {
                Some((offset, block)) => self.fill(offset, &block, object)?,
                None => self.insert_block(object)?,
            };
            self.header.usage.managed_objects += 1;
            self.header.free = self.header.free.saturating_sub(length);
            HeapId::Managed { offset, length }.encode(&self.header, widths)?
        };
        self.write_header()?;
        Ok(id)
    }

    fn find(&self, offset: u64) -> Result<Direct> {
        let mut children = |at, rows| blocks::read_indirect(self.file, &self.header, at, rows);
        blocks::find(&self.header, self.address, offset, &mut children)
    }

    /// A free range for so many bytes, and its block. Ranges that are in no block are forgotten.
    fn room(&mut self, length: u64) -> Result<Option<(u64, Direct)>> {
        while let Some((offset, size)) = self.free_list()?.ranges().best(length) {
            let overhead = blocks::overhead(&self.header, self.file.widths());
            let fits = |block: &Direct| {
                let within = offset - block.offset;
                within >= overhead && within.checked_add(size).is_some_and(|end| end <= block.size)
            };
            match self.find(offset).ok().filter(fits) {
                Some(block) => return Ok(Some((offset, block))),
                None => self.free_list()?.take(offset),
            }
        }
        Ok(None)
    }

    /// Puts an object into a free range of a block.
    fn fill(&mut self, offset: u64, block: &Direct, object: &[u8]) -> Result<u64> {
        let address = block.address;
        DirectBlock::change(self.file, (&self.before, self.address), block, |block| {
            let missing = || Error::broken(DIRECT, address, "a free range that is not there");
            block.set(offset, object).ok_or_else(missing)
        })?;
        if !self.file.is_fresh(address) {
            self.touched.push(address);
        }
        self.free_list()?.take_front(offset, object.len() as u64);
        Ok(offset)
    }

    /// Puts an object into a new block.
    fn insert_block(&mut self, object: &[u8]) -> Result<u64> {
        let (widths, length) = (self.file.widths(), object.len() as u64);
        let (overhead, table) = (blocks::overhead(&self.header, widths), self.header.table);
        let mut least = table.start;
        if length >= table.start {
            least = (length + 1).next_power_of_two();
        }
        if least < overhead + length {
            least = least.saturating_mul(2);
        }
        let first = self.header.root.is_none() && least == table.start;
        let place = if first {
            Some(Place { offset: 0, size: table.start, rows: 0, path: Vec::new() })
        } else {
            blocks::next(&self.header, least)
        };
        let Some(place) = place.filter(|place| place.size >= overhead + length && place.rows <= u16::MAX.into()) else {
            return self.refuse("it is full");
        };
        let (old_rows, old_root) = (u32::from(self.header.root_rows), self.header.root);
        let capacity = |rows| match rows {
            0 => table.start.saturating_sub(overhead),
            rows => blocks::capacity(&self.header, rows, widths),
        };
        let had = if old_root.is_some() { capacity(old_rows) } else { 0 };
        let free = self.header.free.saturating_add(capacity(place.rows).saturating_sub(had));
        let root = if first {
            self.make_direct(&place, object, overhead)?
        } else {
            let root = Indirect { address: old_root, old_rows, rows: place.rows, offset: 0 };
            self.hang(root, &place.path, &mut |change| change.make_direct(&place, object, overhead))?
        };
        self.header.root = Some(root);
        self.header.root_rows = place.rows as u16;
        self.header.free = free;
        let Usage { managed_size, managed_allocated, managed_next, .. } = &mut self.header.usage;
        *managed_size = if first { table.start } else { table.row_offset(place.rows).unwrap_or(*managed_size) };
        *managed_allocated = managed_allocated.saturating_add(place.size);
        if !first {
            *managed_next = place.offset.saturating_add(place.size);
        }
        let offset = place.offset + overhead;
        self.free_list()?.add(offset + length, place.size - overhead - length);
        Ok(offset)
    }

    /// A new direct block with an object.
    fn make_direct(&mut self, place: &Place, object: &[u8], overhead: u64) -> Result<u64> {
        let heap = (self.before.clone(), self.address);
        let mut block = DirectBlock::new(self.file, heap, place.size, place.offset);
        block.set(place.offset + overhead, object).ok_or_else(|| self.broken("a block without room for an object"))?;
        let address = self.file.allocate(Kind::Metadata, place.size)?;
        self.file.put_structure(address, Arc::new(block))?;
        Ok(address)
    }

    /// Puts a new direct block below an indirect one; gives where that one is now. All is read before anything is made.
    fn hang(
        &mut self,
        block: Indirect,
        path: &[(usize, u64, u32)],
        make: &mut dyn FnMut(&mut Self) -> Result<u64>,
    ) -> Result<u64> {
        let (widths, width) = (self.file.widths(), usize::from(self.header.table.width));
        let none = Child { address: None, filtered: None };
        let mut children = match block.address {
            None => Vec::new(),
            // A direct block that was the root is the first child.
            Some(address) if block.old_rows == 0 => vec![Child { address: Some(address), filtered: None }],
            Some(address) => blocks::read_indirect(self.file, &self.header, address, block.old_rows)?.to_vec(),
        };
        children.resize(block.rows as usize * width, none);
        let Some((&(nth, begin, rows), below)) = path.split_first() else {
            return Err(self.broken("no place for a block"));
        };
        let there = children.get(nth).and_then(|child| child.address);
        let made = if below.is_empty() {
            if there.is_some() {
                return Err(self.broken("there is a block where the next one belongs"));
            }
            make(self)?
        } else {
            self.hang(Indirect { address: there, old_rows: rows, rows, offset: begin }, below, make)?
        };
        if let Some(child) = children.get_mut(nth) {
            child.address = Some(made);
        }
        let bytes = fractal::encode_indirect(&children, &self.header, self.address, block.offset, block.rows, widths)?;
        let size = bytes.len() as u64;
        let address = match block.address.filter(|_| block.old_rows > 0) {
            Some(address) if block.old_rows == block.rows => self.file.shadow(address, size)?,
            Some(address) => {
                let old = fractal::indirect_size(&self.header, block.old_rows, widths) as u64;
                let new = self.file.allocate(Kind::Metadata, size)?;
                self.file.free(address, old)?;
                new
            }
            None => self.file.allocate(Kind::Metadata, size)?,
        };
        self.file.put_decoded(address, Arc::new(bytes), Arc::new(children))?;
        Ok(address)
    }

    /// Looks whether an object is there that is to leave the heap.
    fn check_removed(&mut self, id: &HeapId) -> Result<()> {
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
    fn all_blocks(&self) -> Result<Vec<(u64, u64)>> {
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

/// An indirect block that gets a child.
struct Indirect {
    address: Option<u64>,
    old_rows: u32,
    rows: u32,
    offset: u64,
}
