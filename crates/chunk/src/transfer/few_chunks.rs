//! Reads that touch far more chunks than were ever written: all is filled first, then only what is stored is visited.

use hyperslab_file::{Error, OpenFile};
use hyperslab_format::ChunkEntry;
use hyperslab_space::{Coords, Grid, Kind, Op, Piece, Slab, Space};

use super::{PIECES, ReadBuffer, scatter};
use crate::{Chunked, Result};

/// A chunk is found by its coordinate so many times faster than it is cut out of a selection.
const FASTER: u64 = 64;

/// A stored chunk, and its coordinate.
type LocatedChunk = (Coords, ChunkEntry);

impl Chunked {
    /// The stored chunks near a selection, by rising coordinate, if they are few beside those that it may touch.
    pub(crate) fn few(&self, file: &OpenFile, source: &Space) -> Option<Vec<LocatedChunk>> {
        // Points touch no more chunks than there are points, so no chunk is visited for nothing.
        if !matches!(source.kind(), Kind::All | Kind::Hyperslab) {
            return None;
        }
        let (low, high) = source.bounds()?;
        let coord = |coords: &Coords| coords.iter().zip(self.chunk()).map(|(at, size)| at / size).collect::<Coords>();
        let (first, last) = (coord(&low), coord(&high));
        let sides = first.iter().zip(&last).map(|(first, last)| last - first + 1);
        let touched = sides.fold(1u64, u64::saturating_mul).min(source.npoints());
        if touched <= PIECES as u64 {
            return None;
        }
        let (mut few, mut visited) = (Vec::new(), 0);
        let walked = self.index.for_each(file, self.chunk(), &mut |coord, entry| {
            visited += 1;
            let near =
                |coord: &Coords| coord.iter().zip(first.iter().zip(&last)).all(|(at, (l, h))| l <= at && at <= h);
            if let Some(coord) = coord.filter(near).filter(|_| entry.address.is_some()) {
                few.push((coord, entry.clone()));
            }
            let many = few.len() as u64 > touched / FASTER || visited > touched;
            // An error is what ends a walk.
            if many { Err(Error::broken("chunk index", 0, "many chunks")) } else { Ok(()) }
        });
        // Damage somewhere in the index may be far from the selection.
        walked.ok()?;
        few.sort_by(|left, right| left.0.cmp(&right.0));
        few.dedup_by(|left, right| left.0 == right.0);
        Some(few)
    }

    /// As [`Chunked::read`], given all stored chunks that the selection touches.
    pub(crate) fn read_few(
        &self,
        file: &OpenFile,
        few: &[LocatedChunk],
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        scatter::fill(fill, buf, target, self.element())?;
        for batch in few.chunks(PIECES) {
            let mut found = Vec::with_capacity(batch.len());
            for (coord, entry) in batch {
                let Some(piece) = piece_of(source, target, &self.grid, coord)? else { continue };
                found.extend(self.stored_at(file, coord, entry)?.map(|at| (piece, at)));
            }
            let located = found.iter().map(|(piece, at)| (piece, at.clone())).collect();
            self.read_located(file, located, &mut ReadBuffer::stored(buf))?;
        }
        Ok(())
    }
}

/// What a selection has of one chunk.
fn piece_of(source: &Space, target: &Space, grid: &Grid, coord: &[u64]) -> Result<Option<Piece>> {
    let chunk = chunk_of(source, grid, coord)?;
    let within = source.combine(Op::And, &chunk)?;
    if within.npoints() == 0 {
        return Ok(None);
    }
    let memory = source.project_intersection(target, &chunk)?;
    Ok(within.pieces(grid, &memory)?.next().transpose()?)
}

/// As [`piece_of`], where elements are their own places.
pub(crate) fn own_piece_of(source: &Space, grid: &Grid, coord: &[u64]) -> Result<Option<Piece>> {
    let within = source.combine(Op::And, &chunk_of(source, grid, coord)?)?;
    Ok(within.pieces(grid, &within)?.next().transpose()?)
}

/// The elements of a chunk that an extent has.
fn chunk_of(source: &Space, grid: &Grid, coord: &[u64]) -> Result<Space> {
    let sides = coord.iter().zip(grid.chunk().iter().zip(source.dims()));
    let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| {
        let first = nth.saturating_mul(*size);
        Slab::block(first, dim.saturating_sub(first).min(*size))
    };
    let mut chunk = Space::new(source.extent().clone());
    chunk.select_hyperslab(Op::Set, &sides.map(side).collect::<Vec<_>>())?;
    Ok(chunk)
}
