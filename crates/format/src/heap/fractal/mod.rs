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

mod block;
mod id;
mod table;

use hyperslab_base::{Reader, Width, Widths, Writer};

pub use block::{Child, check_direct, decode_indirect, encode_direct, encode_indirect, indirect_size};
pub use id::{HeapId, Huge};
pub use table::DoublingTable;

use crate::{Encoded, Result, message::FilterPipeline};

/// What the header of a fractal heap says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeap {
    /// How many bytes an id has.
    pub id_len: u16,
    /// Whether direct blocks have checksums.
    pub checked_blocks: bool,
    /// Whether all numbers for huge objects were used once, so that free ones must be searched.
    pub huge_wrapped: bool,
    /// The largest object that lies in a block.
    pub max_managed: u32,
    /// The next number for a huge object.
    pub next_huge: u64,
    /// The tree of objects that lie alone.
    pub huge_tree: Option<u64>,
    /// Free bytes in direct blocks.
    pub free: u64,
    /// The manager of the free space.
    pub free_manager: Option<u64>,
    /// What is in the heap.
    pub usage: Usage,
    /// The doubling table.
    pub table: DoublingTable,
    /// The rows of a new root block.
    pub first_rows: u16,
    /// The root block.
    pub root: Option<u64>,
    /// The rows of the root block, if it is indirect; zero for a direct block.
    pub root_rows: u16,
    /// If objects are filtered: how, and size and filter mask of a direct root block.
    pub filters: Option<(FilterPipeline, u64, u32)>,
}

/// What is in a heap: bytes and objects in blocks, alone, and in ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How far the blocks reach.
    pub managed_size: u64,
    /// Bytes of all direct blocks there are.
    pub managed_allocated: u64,
    /// Where the next direct block goes.
    pub managed_next: u64,
    /// Objects in blocks.
    pub managed_objects: u64,
    /// Bytes of objects that lie alone.
    pub huge_size: u64,
    /// Objects that lie alone.
    pub huge_objects: u64,
    /// Bytes of objects that lie in their ids.
    pub tiny_size: u64,
    /// Objects that lie in their ids.
    pub tiny_objects: u64,
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
        reader.sealed(bytes.len())?;
        let id_len = reader.u16()?;
        let filters_len = usize::from(reader.u16()?);
        let flags = reader.u8()?;
        let max_managed = reader.u32()?;
        let next_huge = reader.length(widths)?;
        let huge_tree = reader.address(widths)?;
        let free = reader.length(widths)?;
        let free_manager = reader.address(widths)?;
        let usage = Usage::decode(&mut reader, widths)?;
        let width = reader.u16()?;
        let (start, max_direct) = (reader.length(widths)?, reader.length(widths)?);
        let table = DoublingTable { width, start, max_direct, bits: reader.u16()? };
        let first_rows = reader.u16()?;
        let (root, root_rows) = (reader.address(widths)?, reader.u16()?);
        let mut filters = None;
        if filters_len > 0 {
            let (size, mask) = (reader.length(widths)?, reader.u32()?);
            filters = Some((FilterPipeline::decode(reader.take(filters_len)?)?, size, mask));
        }
        if !table.is_possible() {
            return Err(reader.refuse("a doubling table of no possible shape"));
        }
        Ok(FractalHeap {
            id_len,
            checked_blocks: flags & 2 != 0,
            huge_wrapped: flags & 1 != 0,
            max_managed,
            next_huge,
            huge_tree,
            free,
            free_manager,
            usage,
            table,
            first_rows,
            root,
            root_rows,
            filters,
        })
    }

    /// Writes the whole header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("fractal heap header");
        let pipeline = match &self.filters {
            Some((pipeline, ..)) => pipeline.encode()?,
            None => Vec::new(),
        };
        writer.extend(b"FRHP\0");
        writer.u16(self.id_len);
        writer.count("length of filters", Width::W2, pipeline.len())?;
        writer.u8(u8::from(self.huge_wrapped) | u8::from(self.checked_blocks) << 1);
        writer.u32(self.max_managed);
        writer.length("next huge id", widths, self.next_huge)?;
        writer.address("huge tree", widths, self.huge_tree)?;
        writer.length("free space", widths, self.free)?;
        writer.address("free-space manager", widths, self.free_manager)?;
        self.usage.encode(&mut writer, widths)?;
        writer.u16(self.table.width);
        writer.length("first block", widths, self.table.start)?;
        writer.length("largest direct block", widths, self.table.max_direct)?;
        writer.u16(self.table.bits);
        writer.u16(self.first_rows);
        writer.address("root", widths, self.root)?;
        writer.u16(self.root_rows);
        if let Some((_, size, mask)) = &self.filters {
            writer.length("size of the root", widths, *size)?;
            writer.u32(*mask);
            writer.extend(&pipeline);
        }
        writer.checksum();
        if !self.table.is_possible() {
            return Err(writer.refuse("doubling table", "it has no possible shape"));
        }
        Ok(writer.into_bytes())
    }
}

impl Usage {
    fn decode(reader: &mut Reader<'_>, widths: Widths) -> Result<Usage> {
        Ok(Usage {
            managed_size: reader.length(widths)?,
            managed_allocated: reader.length(widths)?,
            managed_next: reader.length(widths)?,
            managed_objects: reader.length(widths)?,
            huge_size: reader.length(widths)?,
            huge_objects: reader.length(widths)?,
            tiny_size: reader.length(widths)?,
            tiny_objects: reader.length(widths)?,
        })
    }

    fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        writer.length("managed bytes", widths, self.managed_size)?;
        writer.length("allocated bytes", widths, self.managed_allocated)?;
        writer.length("iterator", widths, self.managed_next)?;
        writer.length("managed objects", widths, self.managed_objects)?;
        writer.length("huge bytes", widths, self.huge_size)?;
        writer.length("huge objects", widths, self.huge_objects)?;
        writer.length("tiny bytes", widths, self.tiny_size)?;
        writer.length("tiny objects", widths, self.tiny_objects)
    }
}
