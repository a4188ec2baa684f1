//! A chunk in memory.

use hyperslab_base::memory;
use hyperslab_cache::Footprint;
use hyperslab_space::{Piece, Space};

use super::Home;
use crate::{Facts, Filling, Result, transfer::scatter};

/// About how many bytes the cache takes for each chunk, besides its values.
const BESIDES: usize = 512;

/// These bytes count for chunks that are smaller than this. For larger ones they are little, and a dataset that is as large as the cache fits in.
const SMALL: usize = 8 << 10;

/// A chunk in memory: all its values, as the dataset stores them, after the filters were undone.
pub struct Chunk {
    pub(super) bytes: Vec<u8>,
}

impl Footprint for Chunk {
    type Home = dyn Home;

    fn footprint(&self) -> usize {
        counted(self.bytes.capacity())
    }
}

impl Facts {
    /// What so many chunks take in the cache.
    pub(super) fn room(&self, chunks: usize) -> usize {
        chunks.saturating_mul(counted(self.bytes))
    }
}

/// What a chunk with so many bytes takes in the cache.
fn counted(bytes: usize) -> usize {
    if bytes < SMALL { bytes + BESIDES } else { bytes }
}

impl Chunk {
    /// One that was never written, if `blank` with what that is.
    pub(super) fn new(facts: &Facts, filling: &Filling<'_>, blank: bool) -> Result<Chunk> {
        let mut bytes = memory::zeroed(facts.bytes as u64)?;
        if blank && !filling.is_zero() {
            scatter::fill(filling.value, &mut bytes, &Space::simple(&[facts.elements()])?, facts.element)?;
        }
        Ok(Chunk { bytes })
    }

    /// Values of the caller come over it.
    pub(super) fn gather(&mut self, facts: &Facts, piece: &Piece, buf: &[u8]) -> Result<()> {
        scatter::copy(buf, &piece.memory, &mut self.bytes, &piece.file, facts.element)
    }
}
