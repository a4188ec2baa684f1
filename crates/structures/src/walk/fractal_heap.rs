//! Fractal heaps.

use std::sync::Arc;

use hyperslab_base::Reader;
use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal, Survey};
use hyperslab_format::{
    Malformed,
    free_space::Client,
    heap::fractal::{self, Child, FractalHeap as Header},
    index::record::{Form, Record},
};

use super::btree_v2::tree;
use crate::fractal_heap::{Direct, HeapHeader, IndirectBlock, StoredBlock, Unfilter};

const WHAT: &str = HeapHeader::WHAT;
const DIRECT: &str = StoredBlock::WHAT;
const INDIRECT: &str = IndirectBlock::WHAT;

struct Walk<'a> {
    file: &'a OpenFile,
    address: u64,
    header: &'a Header,
    unfilter: &'a Unfilter,
    /// The bytes of direct blocks that were met.
    allocated: u64,
    /// Whether all blocks could be seen.
    whole: bool,
}

/// Shows the heap at `address`: its blocks, its huge objects with their tree, its free-space manager. Says how
/// many objects it says it has.
pub fn fractal_heap(file: &OpenFile, address: u64, unfilter: &Unfilter, survey: &mut dyn Survey) -> Option<u64> {
    let (header, size) = survey.found(WHAT, address, file.load_once(&SizedHeader, address))?;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let mut walk = Walk { file, address, header: &header, unfilter, allocated: 0, whole: true };
    walk.managed(survey);
    walk.huge(survey);
    if let Some(manager) = header.free_manager {
        let sections = file.survey_free_space(manager, Client::Heap, survey).unwrap_or_default();
        let end = header.usage.managed_size;
        let beyond = sections
            .iter()
            .find(|section| section.blocks.is_none() && section.offset.saturating_add(section.size) > end);
        if let Some(section) = beyond {
            survey.problem(WHAT, address, format!("free bytes at {} of the heap, which has {end}", section.offset));
        }
    }
    let usage = header.usage;
    Some(usage.managed_objects.saturating_add(usage.huge_objects).saturating_add(usage.tiny_objects))
}

/// A header, and how many bytes it has.
struct SizedHeader;

impl Block for SizedHeader {
    type Value = (Header, u64);
    const WHAT: &'static str = WHAT;

    fn seal(&self, first: &[u8]) -> Seal {
        HeapHeader.seal(first)
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        HeapHeader.extent(file)
    }

    fn length(&self, file: &OpenFile, address: u64, first: &[u8]) -> Result<u64, Malformed> {
        HeapHeader.length(file, address, first)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Self::Value> {
        Ok((HeapHeader.decode(file, address, bytes)?.into_inner(), bytes.len() as u64))
    }
}

/// An indirect block that must say where it belongs.
struct Indirect<'a> {
    walk: &'a Walk<'a>,
    offset: u64,
    block: IndirectBlock<'a>,
}

impl Block for Indirect<'_> {
    type Value = Vec<Child>;
    const WHAT: &'static str = INDIRECT;

    fn seal(&self, first: &[u8]) -> Seal {
        self.block.seal(first)
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        self.block.extent(file)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<Child>> {
        let children = self.block.decode(file, address, bytes)?;
        self.walk.check_head(bytes, address, self.offset)?;
        Ok(children)
    }
}

impl Walk<'_> {
    fn managed(&mut self, survey: &mut dyn Survey) {
        let (header, usage) = (self.header, self.header.usage);
        let rows = u32::from(header.root_rows);
        let reach = match (header.root, rows) {
            (None, _) => 0,
            (Some(root), 0) => {
                let filtered = header.filters.as_ref().map(|(_, size, mask)| (*size, *mask));
                self.direct(root, header.table.start, 0, filtered, survey);
                header.table.start
            }
            (Some(root), _) => {
                self.indirect(root, rows, 0, survey);
                header.table.row_offset(rows).unwrap_or(u64::MAX)
            }
        };
        survey.equal(WHAT, self.address, "bytes of blocks", usage.managed_size, reach);
        if self.whole {
            survey.equal(WHAT, self.address, "bytes of direct blocks", usage.managed_allocated, self.allocated);
        }
    }

    fn indirect(&mut self, address: u64, rows: u32, offset: u64, survey: &mut dyn Survey) {
        let (header, widths) = (self.header, self.file.widths());
        let size = fractal::indirect_size(header, rows, widths) as u64;
        if !survey.block(INDIRECT, address, size) {
            self.whole = false;
            return;
        }
        let block = Indirect { walk: self, offset, block: IndirectBlock { header, rows } };
        let Some(children) = survey.found(INDIRECT, address, self.file.load_once(&block, address)) else {
            self.whole = false;
            return;
        };
        let table = &header.table;
        let width = usize::from(table.width).max(1);
        for (nth, child) in children.iter().enumerate() {
            let (row, column) = ((nth / width) as u32, (nth % width) as u64);
            let Some(at) = child.address else { continue };
            let Some((start, size)) = table.row_offset(row).zip(table.block_size(row)) else { continue };
            let begin = offset.saturating_add(start).saturating_add(column.saturating_mul(size));
            if row < table.direct_rows() {
                self.direct(at, size, begin, child.filtered, survey);
            } else if let Some(below) = table.rows_below(size).filter(|below| *below <= row) {
                self.indirect(at, below, begin, survey);
            }
        }
    }

    fn direct(&mut self, address: u64, size: u64, offset: u64, filtered: Option<(u64, u32)>, survey: &mut dyn Survey) {
        self.allocated = self.allocated.saturating_add(size);
        let block = Direct { address, size, offset, filtered: filtered.filter(|_| self.header.filters.is_some()) };
        if !survey.block(DIRECT, address, block.stored()) {
            self.whole = false;
            return;
        }
        let stored = StoredBlock { heap: (self.header, self.address), block: &block, unfilter: self.unfilter };
        let bytes = self.file.load_once(&stored, address);
        survey.found(DIRECT, address, bytes.and_then(|bytes| self.check_head(&bytes, address, offset)));
    }

    /// A block says which heap it belongs to, and where it begins there.
    fn check_head(&self, bytes: &[u8], address: u64, offset: u64) -> Result<()> {
        let mut reader = Reader::new("fractal heap block", bytes);
        let mut check = || {
            reader.skip(5)?;
            let heap = reader.address(self.file.widths())?;
            let says = reader.uint(self.header.table.offset_width())?;
            if heap != Some(self.address) {
                return Err(reader.refuse(format!("it belongs to the heap at {:#x}", heap.unwrap_or(0))));
            }
            if says != offset {
                return Err(
                    reader.refuse(format!("it says that it begins at {says} of the heap, but that is {offset}"))
                );
            }
            Ok(())
        };
        check().map_err(Error::at(address))
    }

    fn huge(&self, survey: &mut dyn Survey) {
        let usage = self.header.usage;
        let (mut count, mut bytes) = (0u64, 0u64);
        let mut last = None;
        if let Some(address) = self.header.huge_tree {
            tree(self.file, address, &[1, 2, 3, 4], survey, &mut |survey, (kind, node), record| {
                let decoded = Form::Plain(kind).decode(record, self.file.widths()).map_err(Error::at(node));
                let Some(Record::Huge(huge, number)) = survey.found(WHAT, self.address, decoded) else { return };
                count += 1;
                bytes = bytes.saturating_add(huge.filtered.map_or(huge.length, |(_, size)| size));
                survey.block("huge object of a fractal heap", huge.address, huge.length);
                let place = number.unwrap_or(huge.address);
                if last.is_some_and(|last| last >= place) {
                    survey.problem(WHAT, self.address, "the records of its huge objects do not rise".into());
                }
                last = Some(place);
            });
        }
        survey.equal(WHAT, self.address, "huge objects", usage.huge_objects, count);
        survey.equal(WHAT, self.address, "bytes of huge objects", usage.huge_size, bytes);
    }
}
