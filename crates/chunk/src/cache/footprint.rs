//! What chunks take in the cache.

use hyperslab_cache::Footprint;

use hyperslab_space::Piece;

use super::{ChunkCache, ChunkPartition, ChunkSource, portions::portions};
use crate::{
    ChunkCoord, ChunkKind, ChunkLayout, EncodedChunk, Error, ResidentChunk, Result, StoredAt, WriteBuffer, layout::Part,
};

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

    fn sheds(source: &ChunkSource) -> bool {
        source.layout().has_selections()
    }

    fn shed(&mut self) {
        ResidentChunk::shed(self);
    }

    fn encoded_footprint(encoded: &EncodedChunk<'static>) -> usize {
        encoded.memory()
    }
}

impl ChunkCache {
    /// The room that chunks of a dataset need in the cache: what dense ones take, and what sparse ones are expected to take that are stored so, when so many bytes of values come to each.
    pub(super) fn footprint(
        &self,
        partition: &ChunkPartition,
        wanted: &[(&ChunkCoord, u64)],
        part: Part,
    ) -> Result<usize> {
        let layout = partition.source().layout();
        match layout.kind() {
            ChunkKind::Dense => Ok(layout.expected_footprint(wanted.len())),
            ChunkKind::Sparse => Ok(footprints(partition, wanted, part)?.into_iter().fold(0, usize::saturating_add)),
        }
    }

    /// Hands out pieces in lists whose chunks fit into the cache, beside those that could not be written, with the room that each needs. A piece for which there is not
    /// that much room is alone. The values of `from`, if there are some, come to the chunks, of which a part is wanted.
    pub(super) fn for_each_list<'a, E: From<Error>>(
        &self,
        partition: &ChunkPartition,
        pieces: &'a [Piece],
        (from, part): (Option<WriteBuffer<'_>>, Part),
        each: &mut dyn FnMut(&'a [Piece], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let (layout, available) = (partition.source().layout(), self.available(partition));
        if layout.kind() == ChunkKind::Dense {
            let most = (available / layout.expected_footprint(1)).max(1);
            return pieces.chunks(most).try_for_each(|list| each(list, layout.expected_footprint(list.len())));
        }
        let new = |piece: &Piece| from.map_or(Ok(0), |from| layout.most_new_bytes(piece, from));
        let wanted = pieces.iter().map(|piece| Ok((&piece.chunk, new(piece)?))).collect::<Result<Vec<_>>>()?;
        let footprints = footprints(partition, &wanted, part)?;
        for range in portions(footprints.iter().map(|bytes| *bytes as u64), available as u64) {
            let bytes = footprints
                .get(range.clone())
                .unwrap_or_default()
                .iter()
                .fold(0, |all: usize, bytes| all.saturating_add(*bytes));
            each(pieces.get(range).unwrap_or_default(), bytes)?;
        }
        Ok(())
    }
}

/// The room that each of some sparse chunks is expected to need: one in memory for what it has there, another one for what the file has, both for the bytes that come to it.
fn footprints(partition: &ChunkPartition, wanted: &[(&ChunkCoord, u64)], part: Part) -> Result<Vec<usize>> {
    let layout = partition.source().layout();
    let coords: Vec<ChunkCoord> = wanted.iter().map(|(coord, _)| (*coord).clone()).collect();
    let located = partition.source().storage().locate(&coords)?;
    let footprint = |((coord, new), at): (&(&ChunkCoord, u64), Option<StoredAt>)| {
        let pinned = partition.peek(coord);
        let here = pinned.as_ref().map(|pinned| pinned.read());
        let here =
            here.filter(|chunk| part == Part::Selection || chunk.is_complete()).map(|chunk| chunk.memory() as u64);
        let old = here.unwrap_or_else(|| at.map_or(0, |at| layout.expected_bytes_of(part, &at.sections)));
        counted(usize::try_from(old.saturating_add(*new)).unwrap_or(usize::MAX))
    };
    Ok(wanted.iter().zip(located).map(footprint).collect())
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
