//! Chunks on their way into memory.

use std::time::Duration;

use hyperslab_cache::assert_no_locks_held;
use hyperslab_file::OpenFile;

use super::{ChunkCache, ChunkPartition};
use crate::{ChunkCoord, Loader, ResidentChunk, Result, StoredAt, layout::Part};

/// A chunk of a dataset.
pub(super) type Chunk<'a> = (&'a ChunkPartition, ChunkCoord);

impl ChunkCache {
    /// As [`fetch`]; how long it takes to decode them counts as waiting.
    pub(super) fn fetch(
        &self,
        file: &OpenFile,
        wanted: &[Chunk<'_>],
        part: Part,
    ) -> Result<Vec<Option<ResidentChunk>>> {
        let mut decoding = Duration::ZERO;
        let fetched = fetch(file, wanted, part, &mut |time| decoding += time);
        for (partition, chunks) in by_partition(wanted) {
            partition.decoded_for(decoding.mul_f64(chunks.len() as f64 / wanted.len() as f64));
        }
        fetched
    }
}

/// Chunks of any datasets of the file, those of each together and by rising coordinate: read with one request and decoded on all cores; nothing
/// for those that were never written. The request has the options of `file`. Tells `decoding` how long it took to decode them.
pub(super) fn fetch(
    file: &OpenFile,
    wanted: &[Chunk<'_>],
    part: Part,
    decoding: &mut dyn FnMut(Duration),
) -> Result<Vec<Option<ResidentChunk>>> {
    let Some((first, _)) = wanted.first() else { return Ok(Vec::new()) };
    assert_no_locks_held("before chunks are read");
    let loader = Loader::holding(file);
    let located = locate(wanted)?;
    let layout = |number: usize| wanted.get(number).map_or(first, |(partition, _)| partition).source().layout();
    let parts = located.iter().enumerate().map(|(number, at)| layout(number).part_of(part, at.as_ref()?));
    let parts: Vec<_> = parts.collect();
    let parts: Vec<_> = wanted.iter().zip(&parts).map(|((_, coord), at)| (coord, at.as_ref())).collect();
    let loaded = loader.load(
        &parts,
        |workspace, number, read, encoded| {
            let at = located.get(number).and_then(Option::as_ref).unwrap_or(read);
            let mut chunk = ResidentChunk::decode(layout(number), at, encoded, workspace)?;
            chunk.condense();
            chunk.tell(layout(number));
            Ok(chunk)
        },
        decoding,
    )?;
    let mut rest = loaded.iter();
    for (partition, chunks) in by_partition(wanted) {
        partition.count_loads(rest.by_ref().take(chunks.len()).flatten().count());
    }
    Ok(loaded)
}

/// The chunks of each dataset.
pub(super) fn by_partition<'a, 'c>(
    wanted: &'a [Chunk<'c>],
) -> impl Iterator<Item = (&'c ChunkPartition, &'a [Chunk<'c>])> {
    wanted.chunk_by(|left, right| left.0.is(right.0)).filter_map(|chunks| Some((chunks.first()?.0, chunks)))
}

fn locate(wanted: &[Chunk<'_>]) -> Result<Vec<Option<StoredAt>>> {
    let mut located = Vec::with_capacity(wanted.len());
    for (partition, chunks) in by_partition(wanted) {
        let coords: Vec<ChunkCoord> = chunks.iter().map(|(_, coord)| coord.clone()).collect();
        located.extend(partition.source().storage().locate(&coords)?);
    }
    Ok(located)
}
