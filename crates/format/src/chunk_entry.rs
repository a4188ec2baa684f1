//! What an index says about one chunk.

use crate::Sections;

/// A chunk of a dataset, as its index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// The chunk's first element, per dimension, where the index stores it; counted in chunks or elements, as the index does.
    pub start: Vec<u64>,
    /// Where its bytes are; undefined if it was never written.
    pub address: Option<u64>,
    /// What is stored there: one section of a dense chunk, several of a structured one.
    pub sections: Sections,
}

impl ChunkEntry {
    /// A chunk that an index does not say the start of.
    pub const fn new(address: Option<u64>, sections: Sections) -> ChunkEntry {
        ChunkEntry { start: Vec::new(), address, sections }
    }

    /// A dense chunk that an index does not say the start of.
    pub const fn dense(address: Option<u64>, size: u64, mask: u32) -> ChunkEntry {
        ChunkEntry::new(address, Sections::one(size, mask))
    }

    /// The same chunk, with what an index says of its start.
    pub fn at(self, start: Vec<u64>) -> ChunkEntry {
        ChunkEntry { start, ..self }
    }

    /// How many bytes are stored, of all sections.
    pub fn size(&self) -> u64 {
        self.sections.bytes()
    }

    /// The filters that the first section skipped, which is all of a dense chunk.
    pub const fn mask(&self) -> u32 {
        self.sections.mask()
    }
}
