//! Which pieces of a request go through the cache, and which past it.

use std::borrow::Cow;

use hyperslab_space::{Coords, Piece, Space};

use super::{ChunkCache, ChunkPartition, Keep, reach::Reach};
use crate::{ChunkKind, Result, layout::values::shaped};

/// Chunks that the caller has as a whole, or that need no coding, come in if the request wants no larger part of the cache than this: it would
/// push out what others want, and win nothing.
pub(super) const PART: u64 = 4;

/// More chunks without filters are a stream, however small they are.
const MANY: u64 = 1024;

/// Whole chunks without filters that are written come in if a request has no more bytes of them: many such requests are one when they leave.
const FEW: u64 = 16 << 10;

/// Which chunks without filters come into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    None,
    /// Those of which a request has a part.
    Parts,
    All,
}

/// The pieces of a request, each part by rising coordinate.
pub(super) struct IoPaths {
    pub(super) through: Vec<Piece>,
    pub(super) past: Vec<Piece>,
}

impl ChunkCache {
    /// Which chunks without filters that a request touches come into the cache: so few, and so much used, that this spares requests.
    pub(super) fn worth(&self, partition: &ChunkPartition, reach: &Reach, selection: &Space) -> Worth {
        let (source, layout) = (partition.source(), partition.source().layout());
        if !layout.is_addressable() || self.is_stream(partition, reach) {
            return Worth::None;
        }
        let (used, bytes) = (layout.selected(selection) / reach.count().max(1), layout.expected_bytes() as u64);
        // Chunks of which all is used are as well read from the file.
        let reuse = |coord: &Coords| source.reuse.count_use(coord, used, bytes);
        if used < bytes && reach.coords().filter(reuse).count() > 0 { Worth::Parts } else { Worth::None }
    }

    /// As [`ChunkCache::worth`], for a write: small chunks wait for others, so that their index is changed once for many.
    pub(super) fn worth_written(&self, partition: &ChunkPartition, reach: &Reach, target: &Space) -> Worth {
        let layout = partition.source().layout();
        let bytes = reach.count().saturating_mul(layout.expected_bytes() as u64);
        let is_cheap = layout.has_index() && layout.is_addressable();
        let gathers = is_cheap && bytes <= FEW && layout.selected(target) == bytes;
        if gathers && !self.is_stream(partition, reach) { Worth::All } else { self.worth(partition, reach, target) }
    }

    /// Whether a request would push out too much, or so many chunks that to look after them is no less work, for chunks without filters.
    pub(super) fn is_stream(&self, partition: &ChunkPartition, reach: &Reach) -> bool {
        let (count, layout) = (reach.count(), partition.source().layout());
        count > MANY || layout.expected_footprint(count as usize) > self.largest(partition) / PART as usize
    }

    /// Sends pieces their way. What is in memory goes through the cache in any case, chunks without filters if they are `worth` it.
    pub(super) fn paths(&self, partition: &ChunkPartition, pieces: Vec<Piece>, keep: Keep, worth: Worth) -> IoPaths {
        let layout = partition.source().layout();
        let limit = self.largest(partition) as u64;
        let keeps = keep == Keep::Worthy;
        if keeps && worth == Worth::All {
            return IoPaths { through: pieces, past: Vec::new() };
        }
        let here = if partition.is_empty() { vec![false; pieces.len()] } else { partition.has(&coords(&pieces)) };
        let wanted = layout.expected_footprint(here.iter().filter(|here| !**here).count()) as u64;
        let pays = |piece: &Piece| match (layout.is_addressable(), layout.is_whole(piece)) {
            // What such chunks take is not known yet; those that do not fit are found out when it is.
            _ if layout.kind() == ChunkKind::Sparse => true,
            (false, false) => wanted <= limit,
            (false, true) => wanted <= limit / PART,
            (true, whole) => worth == Worth::Parts && !whole,
        };
        let through: Vec<bool> = pieces.iter().zip(here).map(|(piece, here)| here || keeps && pays(piece)).collect();
        let (through, past) = match through.iter().filter(|through| **through).count() {
            // Pieces are large, and usually all go one way.
            0 => (Vec::new(), pieces),
            all if all == pieces.len() => (pieces, Vec::new()),
            _ => {
                let (through, past): (Vec<_>, Vec<_>) =
                    pieces.into_iter().zip(through).partition(|(_, through)| *through);
                let bare = |pieces: Vec<(Piece, bool)>| pieces.into_iter().map(|(piece, _)| piece).collect();
                (bare(through), bare(past))
            }
        };
        IoPaths { through, past }
    }
}

pub(super) fn coords(pieces: &[Piece]) -> Vec<Coords> {
    pieces.iter().map(|piece| piece.chunk.clone()).collect()
}

/// How many bytes the values of pieces have.
pub(super) fn bytes_of(partition: &ChunkPartition, pieces: &[Piece]) -> u64 {
    let element = partition.source().layout().element();
    pieces.iter().fold(0, |bytes: u64, piece| bytes.saturating_add(piece.file.npoints().saturating_mul(element)))
}

/// Refuses selections that do not belong together. Whether something is selected.
pub(super) fn is_any(file: &Space, memory: &Space, element: u64, len: usize) -> Result<bool> {
    let (left, right) = (file.npoints(), memory.npoints());
    if left != right {
        return Err(hyperslab_space::Error::Counts { left, right }.into());
    }
    file.check_inside()?;
    memory.check_inside()?;
    if memory.extent().bytes(element).is_none_or(|bytes| bytes > len as u64) {
        return Err(crate::transfer::scatter::outside());
    }
    Ok(left > 0)
}

/// The memory's own selection, or one of another shape that is the same.
pub(super) fn aligned<'a>(file: &Space, memory: &'a Space) -> Result<Cow<'a, Space>> {
    Ok(shaped(file, memory)?.map_or(Cow::Borrowed(memory), Cow::Owned))
}
