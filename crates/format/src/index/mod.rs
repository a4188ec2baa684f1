//! Indexes of the newer kind: the second B-tree, fixed and extensible arrays.

pub mod btree_v2;
pub mod extensible_array;
pub mod fixed_array;

use hyperslab_base::{Reader, Width, Widths};

use crate::{ChunkEntry, Result};

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

    /// Reads an element.
    pub fn decode(&self, reader: &mut Reader<'_>, widths: Widths) -> Result<ChunkEntry> {
        let address = reader.address(widths)?;
        let (size, mask) = match self.size_width {
            Some(width) => (reader.uint(width)?, reader.u32()?),
            None => (self.chunk_bytes, 0),
        };
        Ok(ChunkEntry { start: Vec::new(), address, size, mask })
    }
}
