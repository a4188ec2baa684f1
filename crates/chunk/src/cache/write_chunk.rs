//! A chunk that the caller encoded itself: past the filters, and past the cache.

use std::borrow::Cow;

use hyperslab_file::OpenFile;

use super::{ChunkCache, ChunkPartition};
use crate::{CheckedChunk, ChunkCoord, EncodedChunk, Error, Result, Storage, Storer};

impl ChunkCache {
    /// Stores bytes as the chunk at a coordinate; they went through the filters already, but for those of `mask`. The caller holds the range lock for all of the chunk, of
    /// which the cache forgets what it has when the bytes are stored.
    pub fn write_chunk(
        &self,
        file: &OpenFile,
        partition: &ChunkPartition,
        coord: &[u64],
        mask: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let (storage, coord): (_, ChunkCoord) = (partition.source().storage(), coord.into());
        let filtered = {
            let view = storage.live_view()?;
            let Storage::Chunked(chunked) = &view.values()?.storage else {
                return Err(Error::Layout("it is not chunked".into()));
            };
            chunked.check_chunk(file, &coord, mask, bytes.len())?;
            chunked.is_filtered(&coord, &view.extent)
        };
        replace(file, partition, &EncodedChunk::dense(coord, Cow::Borrowed(bytes), mask, filtered))
    }

    /// As [`ChunkCache::write_chunk`], of a chunk of several sections.
    pub fn write_structured_chunk(
        &self,
        file: &OpenFile,
        partition: &ChunkPartition,
        chunk: CheckedChunk,
    ) -> Result<()> {
        replace(file, partition, &chunk.into_encoded())
    }
}

/// Stores a chunk in place of what file and cache have of it.
fn replace(file: &OpenFile, partition: &ChunkPartition, chunk: &EncodedChunk<'_>) -> Result<()> {
    // If it cannot be stored, what the cache has of the chunk is there again, dirty.
    let replaced = partition.withdraw(&chunk.coord);
    partition.count_bypass(chunk.sections.bytes());
    Storer::new(file).store_all(&[(partition.source().storage(), vec![chunk])])?;
    replaced.commit();
    Ok(())
}
