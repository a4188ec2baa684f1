//! What an index says about one chunk.

use crate::Sections;

/// A chunk of a dataset, as its index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// The chunk's first element, per dimension, where the index stores it; counted in chunks or elements, as the index does.
    pub start: Vec<u64>,
    /// Where its bytes are; undefined if it was never written.
    pub address: Option<u64>,
    /// What is stored there.
    pub stored: StoredBytes,
}

/// The stored bytes of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBytes {
    /// A dense chunk: one section.
    Dense {
        /// How many bytes are stored.
        size: u64,
        /// Which filters were skipped: bit n stands for the n-th of the pipeline.
        mask: u32,
    },
    /// A structured chunk. Boxed, since arrays of dense chunks are decoded by the million.
    Structured(Box<Sections>),
}

impl ChunkEntry {
    /// A dense chunk that an index does not say the start of.
    pub const fn dense(address: Option<u64>, size: u64, mask: u32) -> ChunkEntry {
        ChunkEntry { start: Vec::new(), address, stored: StoredBytes::Dense { size, mask } }
    }

    /// A chunk of these sections: a dense one if there is one section.
    pub fn of(address: Option<u64>, sections: &Sections) -> ChunkEntry {
        let stored = match sections.len() {
            1 => StoredBytes::Dense { size: sections.bytes(), mask: sections.mask() },
            _ => StoredBytes::Structured(Box::new(*sections)),
        };
        ChunkEntry { start: Vec::new(), address, stored }
    }

    /// The same chunk, with what an index says of its start.
    pub fn at(self, start: Vec<u64>) -> ChunkEntry {
        ChunkEntry { start, ..self }
    }

    /// How many bytes are stored, of all sections.
    pub fn size(&self) -> u64 {
        match &self.stored {
            StoredBytes::Dense { size, .. } => *size,
            StoredBytes::Structured(sections) => sections.bytes(),
        }
    }

    /// The filters that the first section skipped, which is all of a dense chunk.
    pub fn mask(&self) -> u32 {
        match &self.stored {
            StoredBytes::Dense { mask, .. } => *mask,
            StoredBytes::Structured(sections) => sections.mask(),
        }
    }

    /// The sections of the chunk.
    pub fn sections(&self) -> Sections {
        match &self.stored {
            StoredBytes::Dense { size, mask } => Sections::one(*size, *mask),
            StoredBytes::Structured(sections) => **sections,
        }
    }
}
