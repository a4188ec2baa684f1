//! The fractal heap: objects by id, in blocks of growing size, alone, or in the id itself.

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    heap::fractal::{self, Child, HeapId, Huge},
    index::record::{Form, Record},
    message::FilterPipeline,
};

use crate::{Tree, kept::Kept};

const WHAT: &str = "fractal heap";
/// Blocks that stay in memory.
const BLOCKS: usize = 64;
/// No stream of deflate, the filter that heaps have if any, grows by more than this factor.
const MAX_RATIO: u64 = 1032;

/// Undoes filters: the pipeline, the stored bytes, the filter mask, the size it must give.
pub type Unfilter = dyn Fn(&FilterPipeline, Vec<u8>, u32, u64) -> Result<Vec<u8>> + Send + Sync;

/// A heap whose header was read.
pub struct FractalHeap {
    address: u64,
    header: fractal::FractalHeap,
    huge: Option<Tree>,
    unfilter: Arc<Unfilter>,
    direct: Kept<Vec<u8>>,
    indirect: Kept<Vec<Child>>,
}

/// A direct block: where it is, how large, where it begins in the heap, and how it was filtered.
struct Direct {
    address: u64,
    size: u64,
    offset: u64,
    filtered: Option<(u64, u32)>,
}

impl FractalHeap {
    /// Reads the header.
    pub fn open(file: &OpenFile, address: u64, unfilter: Arc<Unfilter>) -> Result<FractalHeap> {
        let widths = file.widths();
        let head = file.metadata(WHAT, address, fractal::head_size(widths) as u64)?;
        let size = fractal::FractalHeap::full_size(&head, widths).map_err(Error::at(address))?;
        let bytes = file.metadata(WHAT, address, size as u64)?;
        let header = fractal::FractalHeap::decode(&bytes, widths).map_err(Error::at(address))?;
        let huge = header.huge_tree.map(|tree| Tree::open(file, tree, &[1, 2, 3, 4])).transpose()?;
        let (direct, indirect) = (Kept::new(BLOCKS), Kept::new(BLOCKS));
        Ok(FractalHeap { address, header, huge, unfilter, direct, indirect })
    }

    /// No more bytes than this are in all objects together: they lie in the file, or come out of filters.
    pub fn most(&self, file: &OpenFile) -> u64 {
        file.end().saturating_mul(if self.header.filters.is_some() { MAX_RATIO } else { 1 })
    }

    /// The object with this id.
    pub fn get(&self, file: &OpenFile, id: &[u8]) -> Result<Vec<u8>> {
        let id = HeapId::decode(id, &self.header, file.widths()).map_err(Error::at(self.address))?;
        match id {
            HeapId::Managed { offset, length } => self.managed(file, offset, length),
            HeapId::Huge(number) => self.huge(file, self.huge_record(file, number)?),
            HeapId::HugeDirect(huge) => self.huge(file, huge),
            HeapId::Tiny(bytes) => Ok(bytes),
        }
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    fn managed(&self, file: &OpenFile, offset: u64, length: u64) -> Result<Vec<u8>> {
        let block = self.find(file, offset)?;
        let bytes = self.direct.get_or(block.address, || self.read_direct(file, &block))?;
        let start = usize::try_from(offset - block.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let object = end.and_then(|end| bytes.get(start..end));
        object
            .map(<[u8]>::to_vec)
            .ok_or_else(|| self.broken(format!("an object of {length} bytes at {offset} that is not there")))
    }

    /// The direct block that holds an offset.
    fn find(&self, file: &OpenFile, offset: u64) -> Result<Direct> {
        let table = &self.header.table;
        let missing = || self.broken(format!("no block holds offset {offset}"));
        let mut address = self.header.root.ok_or_else(missing)?;
        if self.header.root_rows == 0 {
            let filtered = self.header.filters.as_ref().map(|(_, size, mask)| (*size, *mask));
            return Ok(Direct { address, size: table.start, offset: 0, filtered })
                .and_then(|block| if offset < block.size { Ok(block) } else { Err(missing()) });
        }
        let (mut rows, mut base) = (u32::from(self.header.root_rows), 0u64);
        loop {
            let within = offset - base;
            let row = (0..rows).take_while(|&row| table.row_offset(row).is_some_and(|start| start <= within)).last();
            let row = row.ok_or_else(missing)?;
            let (start, size) = table.row_offset(row).zip(table.block_size(row)).ok_or_else(missing)?;
            let column = (within - start) / size;
            if column >= u64::from(table.width) {
                return Err(missing());
            }
            let children = self.indirect.get_or(address, || self.read_indirect(file, address, rows))?;
            let nth = row as usize * usize::from(table.width) + column as usize;
            let child = children.get(nth).copied().ok_or_else(missing)?;
            address = child.address.ok_or_else(missing)?;
            base += start + column * size;
            if row < table.direct_rows() {
                return Ok(Direct { address, size, offset: base, filtered: child.filtered });
            }
            // A block of this size is again a table, of fewer rows.
            let first_row = table.start.saturating_mul(u64::from(table.width));
            let below = (size / first_row).checked_ilog2().map(|rows| rows + 1).ok_or_else(missing)?;
            if below > row {
                return Err(missing());
            }
            rows = below;
        }
    }

    fn read_indirect(&self, file: &OpenFile, address: u64, rows: u32) -> Result<Vec<Child>> {
        let size = fractal::indirect_size(&self.header, rows, file.widths());
        let bytes = file.metadata("fractal heap indirect block", address, size as u64)?;
        fractal::decode_indirect(&bytes, &self.header, rows, file.widths()).map_err(Error::at(address))
    }

    fn read_direct(&self, file: &OpenFile, block: &Direct) -> Result<Vec<u8>> {
        let what = "fractal heap direct block";
        let bytes = match (&self.header.filters, block.filtered) {
            (Some((pipeline, ..)), Some((stored, mask))) => {
                (self.unfilter)(pipeline, file.metadata(what, block.address, stored)?, mask, block.size)?
            }
            _ => file.metadata(what, block.address, block.size)?,
        };
        fractal::check_direct(&bytes, &self.header, file.widths()).map_err(Error::at(block.address))?;
        Ok(bytes)
    }

    fn huge(&self, file: &OpenFile, huge: Huge) -> Result<Vec<u8>> {
        let bytes = file.metadata("huge object of a fractal heap", huge.address, huge.length)?;
        match (&self.header.filters, huge.filtered) {
            (Some((pipeline, ..)), Some((mask, size))) => (self.unfilter)(pipeline, bytes, mask, size),
            _ => Ok(bytes),
        }
    }

    fn huge_record(&self, file: &OpenFile, number: u64) -> Result<Huge> {
        let tree = self.huge.as_ref().ok_or_else(|| self.broken("a huge object, but no tree of them"))?;
        let form = Form::plain(tree.kind());
        let read = |record: &[u8]| match form.decode(record, file.widths()).map_err(Error::at(self.address))? {
            Record::Huge(huge, Some(number)) => Ok((huge, number)),
            _ => Err(self.broken("the tree of huge objects does not number them")),
        };
        let mut order = |record: &[u8]| Ok(read(record)?.1.cmp(&number));
        let found = tree.find(file, &mut order, |record| read(record))?;
        found.map(|(huge, _)| huge).ok_or_else(|| self.broken(format!("there is no huge object {number}")))
    }
}

impl std::fmt::Debug for FractalHeap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FractalHeap").field("address", &self.address).field("header", &self.header).finish()
    }
}
