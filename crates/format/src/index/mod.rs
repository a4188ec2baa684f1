//! Indexes of the newer kind: the second B-tree, fixed and extensible arrays.

pub mod btree_v2;
pub mod extensible_array;
pub mod fixed_array;
pub mod record;

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{ChunkEntry, Encoded, Result};

/// What an array keeps of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkElement {
    /// How wide the stored size is; chunks without filters have no size.
    pub size_width: Option<Width>,
    /// The size of a chunk without filters.
    pub chunk_bytes: u64,
}

impl ChunkElement {
    /// How many bytes an element takes.
    pub fn size(&self, widths: Widths) -> usize {
        widths.offsets.bytes() + self.size_width.map_or(0, |width| width.bytes() + 4)
    }

    /// What stands for a chunk that is nowhere.
    pub fn nothing(&self) -> ChunkEntry {
        let size = if self.size_width.is_some() { 0 } else { self.chunk_bytes };
        ChunkEntry { start: Vec::new(), address: None, size, mask: 0 }
    }

    /// Reads an element.
    pub fn decode(&self, reader: &mut Reader<'_>, widths: Widths) -> Result<ChunkEntry> {
        let address = reader.address(widths)?;
        let (size, mask) = match self.size_width {
            Some(width) => (reader.uint(width)?, reader.u32()?),
            None => (self.chunk_bytes, 0),
        };
        Ok(ChunkEntry { start: Vec::new(), address, size, mask })
    }

    /// Writes an element.
    pub fn encode(&self, writer: &mut Writer, chunk: &ChunkEntry, widths: Widths) -> Encoded<()> {
        writer.address("address of a chunk", widths, chunk.address)?;
        match self.size_width {
            Some(width) => {
                writer.uint("size of a chunk", width, chunk.size)?;
                writer.u32(chunk.mask);
                Ok(())
            }
            // Nothing is stored that would tell another size.
            None if (chunk.size, chunk.mask) == (self.chunk_bytes, 0) => Ok(()),
            None => Err(writer.refuse("size of a chunk", "a chunk without filters has the size of all others")),
        }
    }
}

/// Bits as bytes, the first one in the highest place.
fn bitmap(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().fold(0, |all, (at, &set)| all | u8::from(set) << (7 - at)))
        .collect()
}
