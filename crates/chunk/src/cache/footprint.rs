//! What chunks take in the cache.

use hyperslab_cache::Footprint;

use super::ChunkSource;
use crate::{ChunkLayout, EncodedChunk, ResidentChunk};

/// About how many bytes the cache takes for each chunk, besides its values.
const BESIDES: usize = 512;

/// These bytes count for chunks that are smaller than this. For larger ones they are little, and a dataset that is as large as the cache fits in.
const SMALL: usize = 8 << 10;

impl Footprint for ResidentChunk {
    type Source = ChunkSource;
    type Encoded = EncodedChunk<'static>;

    fn footprint(&self) -> usize {
        counted(self.memory())
    }

    fn encoded_footprint(encoded: &EncodedChunk<'static>) -> usize {
        encoded.memory()
    }
}

impl ChunkLayout {
    /// What so many chunks are expected to take in the cache.
    pub(super) fn expected_footprint(&self, chunks: usize) -> usize {
        chunks.saturating_mul(counted(self.expected_bytes()))
    }
}

/// What a chunk with so many bytes takes in the cache.
fn counted(bytes: usize) -> usize {
    if bytes < SMALL { bytes + BESIDES } else { bytes }
}
