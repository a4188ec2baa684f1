//! Where the blocks of a heap are: finding them, and the place for the next one.

use std::sync::Arc;

use hyperslab_base::Widths;
use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Result, Seal};
use hyperslab_format::heap::fractal::{self, Child, FractalHeap as Header};

use super::{DIRECT, Unfilter, UnfilterError, WHAT};

/// A direct block: where it is, how large, where it begins in the heap, and how it was filtered.
pub(crate) struct Direct {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) offset: u64,
    pub(crate) filtered: Option<(u64, u32)>,
}

impl Direct {
    /// How many bytes it has in the file.
    pub(crate) fn stored(&self) -> u64 {
        self.filtered.map_or(self.size, |(stored, _)| stored)
    }
}

/// Where the next direct block goes.
pub(super) struct BlockPosition {
    /// Where it begins in the heap.
    pub(super) offset: u64,
    /// Its size.
    pub(super) size: u64,
    /// The rows that the root block has then.
    pub(super) rows: u32,
    /// From the root down: the number of the child; where this child begins in the heap; its rows if it is an indirect block.
    pub(super) path: Vec<(usize, u64, u32)>,
}

/// What a direct block has in front of its objects.
pub(super) fn overhead(header: &Header, widths: Widths) -> u64 {
    let checksum = if header.checked_blocks { 4 } else { 0 };
    (5 + widths.offsets.bytes() + header.table.offset_width().bytes() + checksum) as u64
}

/// How many bytes of objects fit direct blocks, if all are there that an indirect block of `rows` rows can have.
pub(super) fn capacity(header: &Header, rows: u32, widths: Widths) -> u64 {
    let (overhead, width) = (overhead(header, widths), u64::from(header.table.width));
    let mut in_block = Vec::new();
    for row in 0..rows {
        let size = header.table.block_size(row).unwrap_or(u64::MAX);
        in_block.push(if row < header.table.direct_rows() {
            size.saturating_sub(overhead)
        } else {
            let below = header.table.rows_below(size).unwrap_or(0) as usize;
            in_block.iter().take(below).fold(0u64, |sum, free| sum.saturating_add(*free)).saturating_mul(width)
        });
    }
    in_block.iter().fold(0u64, |sum, free| sum.saturating_add(*free)).saturating_mul(width)
}

/// The children of an indirect block.
pub(super) fn read_indirect(file: Owned<'_>, header: &Header, address: u64, rows: u32) -> Result<Arc<Vec<Child>>> {
    file.load(&IndirectBlock { header, rows }, address)
}

/// An indirect block of so many rows.
pub(crate) struct IndirectBlock<'a> {
    pub(crate) header: &'a Header,
    pub(crate) rows: u32,
}

impl Block for IndirectBlock<'_> {
    type Value = Vec<Child>;
    const WHAT: &'static str = "fractal heap indirect block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(fractal::indirect_size(self.header, self.rows, file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<Child>> {
        fractal::decode_indirect(bytes, self.header, self.rows, file.widths()).map_err(Error::at(address))
    }

    fn fits(&self, children: &Vec<Child>) -> bool {
        children.len() == self.rows as usize * usize::from(self.header.table.width)
    }
}

/// A direct block as it is stored: perhaps filtered.
pub(crate) struct StoredBlock<'a> {
    /// The heap, and where its header is.
    pub(crate) heap: (&'a Header, u64),
    pub(crate) block: &'a Direct,
    pub(crate) unfilter: &'a Unfilter,
}

impl Block for StoredBlock<'_> {
    /// All of it, without filters.
    type Value = Vec<u8>;
    const WHAT: &'static str = DIRECT;

    fn seal(&self, _: &[u8]) -> Seal {
        if self.heap.0.checked_blocks { Seal::Checksum } else { Seal::Signature }
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.block.stored())
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<u8>> {
        let (header, block) = (self.heap.0, self.block);
        let bytes = match (&header.filters, block.filtered) {
            (Some((pipeline, ..)), Some((_, mask))) => {
                let plain = (self.unfilter)(pipeline, bytes.to_vec(), mask, block.size);
                plain.map_err(UnfilterError::of(DIRECT, address))?
            }
            _ => bytes.to_vec(),
        };
        fractal::check_direct(&bytes, header, file.widths()).map_err(Error::at(address))?;
        Ok(bytes)
    }
}

/// The direct block that holds an offset. `children` gives the children of the indirect block at an address with so many rows.
pub(super) fn find(
    header: &Header,
    at: u64,
    offset: u64,
    children: &mut dyn FnMut(u64, u32) -> Result<Arc<Vec<Child>>>,
) -> Result<Direct> {
    let table = &header.table;
    let missing = || Error::broken(WHAT, at, format!("no block holds offset {offset}"));
    let mut address = header.root.ok_or_else(missing)?;
    if header.root_rows == 0 {
        let filtered = header.filters.as_ref().map(|(_, size, mask)| (*size, *mask));
        let root = Direct { address, size: table.start, offset: 0, filtered };
        return if offset < root.size { Ok(root) } else { Err(missing()) };
    }
    let (mut rows, mut base) = (u32::from(header.root_rows), 0u64);
    loop {
        let (row, column) = table.place(offset - base, rows).ok_or_else(missing)?;
        let (start, size) = table.row_offset(row).zip(table.block_size(row)).ok_or_else(missing)?;
        let children = children(address, rows)?;
        let nth = row as usize * usize::from(table.width) + column as usize;
        let child = children.get(nth).copied().ok_or_else(missing)?;
        address = child.address.ok_or_else(missing)?;
        base += start + column * size;
        if row < table.direct_rows() {
            return Ok(Direct { address, size, offset: base, filtered: child.filtered });
        }
        // A block of this size is again a table, of fewer rows.
        let below = table.rows_below(size).filter(|below| *below <= row).ok_or_else(missing)?;
        rows = below;
    }
}

/// Where the next direct block of `least` bytes or more goes, behind all that there are. Smaller ones are passed over, and never made.
pub(super) fn next(header: &Header, least: u64) -> Option<BlockPosition> {
    let table = &header.table;
    let (width, most) = (u64::from(table.width), table.max_rows());
    let wanted = table.row_of_size(least);
    let (mut rows, mut at) = (u32::from(header.root_rows), header.usage.managed_next);
    if rows == 0 {
        let first = if header.first_rows == 0 { most } else { u32::from(header.first_rows) };
        rows = first.max(wanted + 1);
        at = if header.root.is_some() { table.start } else { 0 };
    }
    'again: loop {
        if at >= table.row_offset(rows)? {
            if rows >= most {
                return None;
            }
            let double = rows.saturating_mul(2).min(most);
            rows = if rows < table.direct_rows() { double.max(wanted + 1) } else { double };
        }
        if rows > most {
            return None;
        }
        let (mut base, mut rows_here, mut path) = (0, rows, Vec::new());
        loop {
            let Some((row, column)) = table.place(at - base, rows_here) else {
                // Behind the last row: the root must grow.
                at = at.max(table.row_offset(rows)?);
                continue 'again;
            };
            let (start, size) = table.row_offset(row).zip(table.block_size(row))?;
            let begin = base.checked_add(start)?.checked_add(column * size)?;
            let nth = usize::try_from(u64::from(row) * width + column).ok()?;
            if row < table.direct_rows() {
                if begin != at {
                    at = begin.checked_add(size)?;
                    continue 'again;
                }
                if size >= least {
                    path.push((nth, begin, 0));
                    return Some(BlockPosition { offset: begin, size, rows, path });
                }
                at = base.checked_add(table.row_offset(wanted.min(rows_here))?)?;
                continue 'again;
            }
            let below = table.rows_below(size).filter(|below| *below <= row)?;
            let largest = table.block_size(below.min(table.direct_rows()).checked_sub(1)?)?;
            if largest < least {
                at = begin.checked_add(size)?;
                continue 'again;
            }
            path.push((nth, begin, below));
            (base, rows_here) = (begin, below);
        }
    }
}
