//! The fractal heap: objects by id, in blocks of growing size, alone, or in the id itself.

use std::sync::Arc;

use hyperslab_base::{Reader, Width};
use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    heap::fractal::{self, Child},
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

/// What a huge object's record or id says.
struct Huge {
    address: u64,
    length: u64,
    filtered: Option<(u32, u64)>,
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
        let mut reader = Reader::new("fractal heap id", id);
        let first = reader.u8().map_err(Error::at(self.address))?;
        if first >> 6 != 0 {
            return Err(self.broken(format!("an id of unknown version {}", first >> 6)));
        }
        match first >> 4 & 3 {
            0 => self.managed(file, reader),
            1 => self.huge(file, reader),
            2 => self.tiny(first, reader),
            kind => Err(self.broken(format!("an id of unknown kind {kind}"))),
        }
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    fn tiny(&self, first: u8, mut reader: Reader<'_>) -> Result<Vec<u8>> {
        let mut length = usize::from(first & 0x0f);
        let mut read = || {
            // Long ids have a second byte of length.
            if self.header.id_len > 17 {
                length = length << 8 | usize::from(reader.u8()?);
            }
            reader.take(length + 1)
        };
        read().map(<[u8]>::to_vec).map_err(Error::at(self.address))
    }

    fn managed(&self, file: &OpenFile, mut reader: Reader<'_>) -> Result<Vec<u8>> {
        let table = &self.header.table;
        let length_width = width_up_to(table.max_direct).min(width_up_to(u64::from(self.header.max_managed)));
        let read = |reader: &mut Reader<'_>| Ok((reader.uint(table.offset_width())?, reader.uint(length_width)?));
        let (offset, length) = read(&mut reader).map_err(Error::at(self.address))?;
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

    fn huge(&self, file: &OpenFile, mut reader: Reader<'_>) -> Result<Vec<u8>> {
        let widths = file.widths();
        let filtered = self.header.filters.is_some();
        let direct = widths.offsets.bytes()
            + widths.lengths.bytes() * if filtered { 2 } else { 1 }
            + if filtered { 4 } else { 0 };
        let room = usize::from(self.header.id_len).saturating_sub(1);
        let found = if room >= direct {
            self.huge_fields(file, &mut reader, filtered)?
        } else {
            let width = Width::new(room.min(8) as u8).ok_or_else(|| self.broken("ids without room"))?;
            let number = reader.uint(width).map_err(Error::at(self.address))?;
            self.huge_record(file, number, filtered)?
        };
        let bytes = file.metadata("huge object of a fractal heap", found.address, found.length)?;
        match (&self.header.filters, found.filtered) {
            (Some((pipeline, ..)), Some((mask, size))) => (self.unfilter)(pipeline, bytes, mask, size),
            _ => Ok(bytes),
        }
    }

    fn huge_record(&self, file: &OpenFile, number: u64, filtered: bool) -> Result<Huge> {
        let tree = self.huge.as_ref().ok_or_else(|| self.broken("a huge object, but no tree of them"))?;
        let key = |record: &[u8]| -> Result<u64> {
            let mut reader = Reader::new("huge object record", record);
            self.huge_fields(file, &mut reader, filtered)?;
            reader.length(file.widths()).map_err(Error::at(self.address))
        };
        let mut order = |record: &[u8]| Ok(key(record)?.cmp(&number));
        let take = |record: &[u8]| self.huge_fields(file, &mut Reader::new("huge object record", record), filtered);
        tree.find(file, &mut order, take)?.ok_or_else(|| self.broken(format!("there is no huge object {number}")))
    }

    fn huge_fields(&self, file: &OpenFile, reader: &mut Reader<'_>, filtered: bool) -> Result<Huge> {
        let widths = file.widths();
        let mut read = || {
            let (address, length) = (reader.address(widths)?, reader.length(widths)?);
            let filtered = if filtered { Some((reader.u32()?, reader.length(widths)?)) } else { None };
            Ok((address, length, filtered))
        };
        let (address, length, filtered) = read().map_err(Error::at(self.address))?;
        let address = address.ok_or_else(|| self.broken("a huge object without an address"))?;
        Ok(Huge { address, length, filtered })
    }
}

/// The bytes that libhdf5 gives to numbers up to `limit`.
fn width_up_to(limit: u64) -> Width {
    Width::new((limit.max(1).ilog2() / 8 + 1) as u8).unwrap_or(Width::W8)
}

impl std::fmt::Debug for FractalHeap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FractalHeap").field("address", &self.address).field("header", &self.header).finish()
    }
}
