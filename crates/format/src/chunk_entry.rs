//! What an index says about one chunk.

/// A chunk of a dataset, as its index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// The chunk's first element, per dimension, where the index stores it; counted in chunks or elements, as the index does.
    pub start: Vec<u64>,
    /// Where its bytes are; undefined if it was never written.
    pub address: Option<u64>,
    /// How many bytes are stored.
    pub size: u64,
    /// Which filters were skipped: bit n stands for the n-th of the pipeline.
    pub mask: u32,
}
