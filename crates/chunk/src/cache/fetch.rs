//! Chunks on their way into memory.

use std::time::Duration;

use hyperslab_cache::assert_no_locks_held;

use super::{ChunkCache, ChunkPartition};
use crate::{ChunkCoord, Loader, ResidentChunk, Result, StoredAt};

/// A chunk of a dataset.
type Chunk<'a> = (&'a ChunkPartition, ChunkCoord);

impl ChunkCache {
    /// As [`fetch`]; how long it takes to decode them counts as waiting.
    pub(super) fn fetch(&self, wanted: &[Chunk<'_>]) -> Result<Vec<Option<ResidentChunk>>> {
        fetch(wanted, &mut |time| self.cache.decoded_for(time))
    }
}

/// Chunks of any datasets of the file, those of each together and by rising coordinate: read with one request and decoded on all cores; nothing
/// for those that were never written. Tells `decoding` how long it took to decode them.
pub(super) fn fetch(wanted: &[Chunk<'_>], decoding: &mut dyn FnMut(Duration)) -> Result<Vec<Option<ResidentChunk>>> {
    let Some((first, _)) = wanted.first() else { return Ok(Vec::new()) };
    assert_no_locks_held("before chunks are read");
    let loader = Loader::holding(first.home().file());
    let located = wanted.iter().zip(locate(wanted)?);
    let located: Vec<_> = located.map(|((_, coord), at)| (coord, at)).collect();
    let layout = |number: usize| wanted.get(number).map_or(first, |(partition, _)| partition).home().layout();
    loader.load(
        &located,
        |workspace, number, at, encoded| {
            let mut chunk = ResidentChunk::decode(layout(number), at, encoded, workspace)?;
            chunk.condense();
            Ok(chunk)
        },
        decoding,
    )
}

fn locate(wanted: &[Chunk<'_>]) -> Result<Vec<Option<StoredAt>>> {
    let mut located = Vec::with_capacity(wanted.len());
    for group in wanted.chunk_by(|left, right| left.0.is(right.0)) {
        let Some((partition, _)) = group.first() else { continue };
        let coords: Vec<ChunkCoord> = group.iter().map(|(_, coord)| coord.clone()).collect();
        located.extend(partition.home().storage().locate(&coords)?);
    }
    Ok(located)
}
