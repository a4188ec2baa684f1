//! The fractal heap: links and attributes of large objects, shared messages.
//!
//! ```text
//!  header    | FRHP | version 0 | length of ids, 2 | length of filters, 2 | flags | largest managed, 4 | next huge id L | huge tree O |
//!            | free L | free-space manager O | managed L | allocated L | iterator L | managed objects L | huge bytes L | huge objects L |
//!            | tiny bytes L | tiny objects L | width, 2 | first block L | largest direct block L | bits of the heap, 2 |
//!            | first rows, 2 | root O | rows, 2 | (filters: size of the root L | mask, 4 | pipeline) | checksum, 4 |
//!  indirect  | FHIB | version 0 | header O | offset | children: O (filters: size L | mask, 4)… then O… | checksum, 4 |
//!  direct    | FHDB | version 0 | header O | offset | (checksum, 4) | objects |
//! ```

use hyperslab_base::{Reader, Width, Widths};

use crate::{Result, message::FilterPipeline};

/// What the header of a fractal heap says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeap {
    /// How many bytes an id has.
    pub id_len: u16,
    /// Whether direct blocks have checksums.
    pub checked_blocks: bool,
    /// The largest object that lies in a block.
    pub max_managed: u32,
    /// The tree of objects that lie alone.
    pub huge_tree: Option<u64>,
    /// The doubling table.
    pub table: DoublingTable,
    /// The root block.
    pub root: Option<u64>,
    /// The rows of the root block, if it is indirect; zero for a direct block.
    pub root_rows: u16,
    /// If objects are filtered: how, and size and filter mask of a direct root block.
    pub filters: Option<(FilterPipeline, u64, u32)>,
}

/// The shape of the heap's blocks: rows of equal blocks, doubling in size from the third row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoublingTable {
    /// Blocks in a row.
    pub width: u16,
    /// The size of the blocks in the first row.
    pub start: u64,
    /// The size of the largest direct block.
    pub max_direct: u64,
    /// The heap's size as a power of two.
    pub bits: u16,
}

/// How many bytes the fixed part of the header takes, without filters and checksum.
pub const fn head_size(widths: Widths) -> usize {
    4 + 1 + 2 + 2 + 1 + 4 + 12 * widths.lengths.bytes() + 3 * widths.offsets.bytes() + 2 + 2 + 2 + 2
}

impl FractalHeap {
    /// How many bytes the whole header takes, from its fixed part.
    pub fn full_size(bytes: &[u8], widths: Widths) -> Result<usize> {
        let mut reader = Reader::new("fractal heap header", bytes);
        reader.signature(b"FRHP")?;
        reader.version(0..=0)?;
        reader.u16()?;
        let filters = usize::from(reader.u16()?);
        let extra = if filters > 0 { widths.lengths.bytes() + 4 + filters } else { 0 };
        Ok(head_size(widths) + extra + 4)
    }

    /// Reads the whole header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<FractalHeap> {
        let mut reader = Reader::new("fractal heap header", bytes);
        reader.signature(b"FRHP")?;
        reader.version(0..=0)?;
        let id_len = reader.u16()?;
        let filters_len = usize::from(reader.u16()?);
        let flags = reader.u8()?;
        let max_managed = reader.u32()?;
        reader.length(widths)?; // next huge id
        let huge_tree = reader.address(widths)?;
        reader.length(widths)?; // free space
        reader.address(widths)?; // its manager
        for _ in 0..8 {
            reader.length(widths)?; // statistics
        }
        let width = reader.u16()?;
        let (start, max_direct) = (reader.length(widths)?, reader.length(widths)?);
        let table = DoublingTable { width, start, max_direct, bits: reader.u16()? };
        reader.u16()?; // rows of a new root
        let (root, root_rows) = (reader.address(widths)?, reader.u16()?);
        let mut filters = None;
        if filters_len > 0 {
            let (size, mask) = (reader.length(widths)?, reader.u32()?);
            filters = Some((FilterPipeline::decode(reader.take(filters_len)?)?, size, mask));
        }
        reader.checksum(bytes)?;
        table.check(&reader)?;
        Ok(FractalHeap {
            id_len,
            checked_blocks: flags & 2 != 0,
            max_managed,
            huge_tree,
            table,
            root,
            root_rows,
            filters,
        })
    }
}

impl DoublingTable {
    fn check(&self, reader: &Reader<'_>) -> Result<()> {
        let powers = self.start.is_power_of_two() && self.max_direct.is_power_of_two() && self.width.is_power_of_two();
        if !powers || self.start > self.max_direct || self.bits > 64 || self.bits == 0 {
            return Err(reader.refuse("a doubling table of no possible shape"));
        }
        Ok(())
    }

    /// The bytes of an offset into the heap.
    pub fn offset_width(&self) -> Width {
        Width::new(self.bits.div_ceil(8) as u8).unwrap_or(Width::W8)
    }

    /// The size of the blocks in a row, if it can be told.
    pub fn block_size(&self, row: u32) -> Option<u64> {
        self.start.checked_shl(row.saturating_sub(1)).filter(|size| size >> row.saturating_sub(1) == self.start)
    }

    /// How many rows hold direct blocks.
    pub fn direct_rows(&self) -> u32 {
        (self.max_direct / self.start).trailing_zeros() + 2
    }

    /// Where a row begins, counted from the front of its indirect block.
    pub fn row_offset(&self, row: u32) -> Option<u64> {
        let width = u64::from(self.width);
        if row == 0 { Some(0) } else { self.block_size(row)?.checked_mul(width) }
    }
}

/// A child of an indirect block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Where it is; undefined if it does not exist.
    pub address: Option<u64>,
    /// For filtered direct blocks: stored size and filter mask.
    pub filtered: Option<(u64, u32)>,
}

/// How many bytes an indirect block of `rows` rows takes.
pub fn indirect_size(heap: &FractalHeap, rows: u32, widths: Widths) -> usize {
    let width = usize::from(heap.table.width);
    let direct = rows.min(heap.table.direct_rows()) as usize * width;
    let all = rows as usize * width;
    let filtered = if heap.filters.is_some() { widths.lengths.bytes() + 4 } else { 0 };
    block_head(heap, widths) + all * widths.offsets.bytes() + direct * filtered + 4
}

/// Reads the children of an indirect block of `rows` rows, row by row.
pub fn decode_indirect(bytes: &[u8], heap: &FractalHeap, rows: u32, widths: Widths) -> Result<Vec<Child>> {
    let mut reader = Reader::new("fractal heap indirect block", bytes);
    reader.signature(b"FHIB")?;
    reader.version(0..=0)?;
    reader.address(widths)?;
    reader.uint(heap.table.offset_width())?;
    let mut children = Vec::new();
    for row in 0..rows {
        let direct = row < heap.table.direct_rows();
        for _ in 0..heap.table.width {
            let address = reader.address(widths)?;
            let filtered = match &heap.filters {
                Some(_) if direct => Some((reader.length(widths)?, reader.u32()?)),
                _ => None,
            };
            children.push(Child { address, filtered });
        }
    }
    reader.checksum(bytes)?;
    Ok(children)
}

/// Checks the head and, where it has one, the checksum of a direct block.
pub fn check_direct(bytes: &[u8], heap: &FractalHeap, widths: Widths) -> Result<()> {
    let mut reader = Reader::new("fractal heap direct block", bytes);
    reader.signature(b"FHDB")?;
    reader.version(0..=0)?;
    reader.address(widths)?;
    reader.uint(heap.table.offset_width())?;
    if !heap.checked_blocks {
        return Ok(());
    }
    // The checksum covers the block with zeros in its own place.
    let place = reader.position();
    let stored = reader.u32()?;
    let mut zeroed = bytes.to_vec();
    if let Some(field) = zeroed.get_mut(place..place + 4) {
        field.fill(0);
    }
    let computed = hyperslab_base::lookup3(&zeroed);
    if stored == computed { Ok(()) } else { Err(reader.refuse("wrong checksum: the bytes are damaged")) }
}

fn block_head(heap: &FractalHeap, widths: Widths) -> usize {
    5 + widths.offsets.bytes() + heap.table.offset_width().bytes()
}
