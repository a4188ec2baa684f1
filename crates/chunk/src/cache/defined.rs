//! Which elements of sparse chunks are defined, and elements that are not to be any more. Both walk chunks that there are, and no others.

use std::ops::Range;

use hyperslab_space::{Coords, ElementRuns, Kind, Piece, Space};

use super::{
    ChunkCache, ChunkPartition, RequestOptions, element_numbers::ElementNumbers, io_path::coords, reach::Reach,
};
use crate::{
    ChunkCoord, Error, Filling, Result, Storage, WriteBuffer,
    layout::Part,
    transfer::{PIECES, own_piece_of},
};

/// Requests that touch no more chunks look for each of them; larger ones ask which there are.
const FEW: u64 = 1024;

impl ChunkCache {
    /// The selected elements that are defined. Points keep their order; all others come as a set. The caller holds its range lock.
    pub fn defined(&self, partition: &ChunkPartition, options: RequestOptions<'_>, selection: &Space) -> Result<Space> {
        selection.check_inside()?;
        let layout = partition.source().layout();
        if !layout.has_selections() {
            return Ok(selection.clone());
        }
        let (numbers, mut runs) = (ElementNumbers::of(selection)?, Vec::new());
        self.for_each_stored(partition, selection, &mut |pieces| {
            self.for_each_list(partition, &pieces, (None, Part::Selection), &mut |list, bytes| {
                self.visit_list((options, partition), (list, bytes, Part::Selection), &mut |chunk, piece| {
                    let mut in_chunk = numbers.in_chunk(layout.chunk(), &piece.chunk);
                    chunk.defined(&piece.file, &mut |run| in_chunk.add(run, &mut runs))
                })
            })
        })?;
        into_space(runs, &numbers, selection)
    }

    /// The chunks that a selection may touch and that are in the file or in memory, by rising coordinate.
    pub fn stored_chunks(&self, partition: &ChunkPartition, selection: &Space) -> Result<Vec<ChunkCoord>> {
        let reach = partition.source().layout().grid().and_then(|grid| Reach::of(grid, selection));
        reach.map_or(Ok(Vec::new()), |reach| stored_within(partition, &reach))
    }

    /// The selected elements of some chunks that are defined, chunk by chunk by rising coordinate; chunks without such elements are left out. The caller holds the range
    /// lock of the selection.
    pub fn defined_in_chunks(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        selection: &Space,
        chunks: &[ChunkCoord],
    ) -> Result<Vec<(ChunkCoord, ElementRuns)>> {
        let (layout, numbers) = (partition.source().layout(), ElementNumbers::of(selection)?);
        let Some(grid) = layout.grid() else { return Ok(Vec::new()) };
        let pieces = chunks.iter().map(|coord| own_piece_of(selection, grid, coord));
        let pieces = pieces.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        let mut found = Vec::new();
        self.for_each_list(partition, &pieces, (None, Part::Selection), &mut |list, bytes| {
            self.visit_list((options, partition), (list, bytes, Part::Selection), &mut |chunk, piece| {
                let (mut in_chunk, mut runs) = (numbers.in_chunk(layout.chunk(), &piece.chunk), Vec::new());
                chunk.defined(&piece.file, &mut |run| in_chunk.add(run, &mut runs))?;
                if !runs.is_empty() {
                    found.push((piece.chunk.clone(), ElementRuns::new(selection.extent().clone(), runs)?));
                }
                Ok(())
            })
        })?;
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(found)
    }

    /// Lets the selected elements not be defined any more. The caller holds its range lock.
    pub fn erase(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        selection: &Space,
        filling: &Filling<'_>,
    ) -> Result<()> {
        selection.check_inside()?;
        options.file.check_writable()?;
        self.cache.touch(partition);
        self.for_each_stored(partition, selection, &mut |pieces| {
            self.write_pieces((options.file, partition), pieces, options.keep, WriteBuffer::ERASED, filling)
        })
    }

    /// Hands out what a selection has of chunks that are in the file or in memory, some at a time, by rising coordinate.
    pub(super) fn for_each_stored<E: From<Error>>(
        &self,
        partition: &ChunkPartition,
        selection: &Space,
        each: &mut dyn FnMut(Vec<Piece>) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = partition.source().layout();
        let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, selection)?))) else {
            return Ok(());
        };
        let is_regular = matches!(selection.kind(), Kind::All | Kind::Hyperslab);
        if reach.most() > FEW && is_regular {
            for some in stored_within(partition, &reach)?.chunks(PIECES) {
                let pieces = some.iter().map(|coord| own_piece_of(selection, grid, coord));
                each(pieces.filter_map(Result::transpose).collect::<Result<_>>()?)?;
            }
            return Ok(());
        }
        // No values come or go, so elements are their own places: those in a row of memory would be numbered for nothing.
        let mut pieces = selection.pieces(grid, selection).map_err(Error::from)?;
        loop {
            let mut next = pieces.batch(PIECES).map_err(Error::from)?;
            if next.is_empty() {
                return Ok(());
            }
            let touched = coords(&next);
            // Memory is asked first: a chunk that leaves it meanwhile is in the file then.
            let here = partition.has(&touched);
            let located = partition.source().storage().locate(&touched)?;
            let mut there = located.iter().zip(here).map(|(at, here)| at.is_some() || here);
            next.retain(|_| there.next().unwrap_or(false));
            each(next)?;
        }
    }
}

/// The coordinates of chunks in a box that are in the file or in memory, rising.
fn stored_within(partition: &ChunkPartition, reach: &Reach) -> Result<Vec<ChunkCoord>> {
    let storage = partition.source().storage();
    // Memory is asked first: a chunk that leaves it meanwhile is in the file then.
    let mut found: Vec<ChunkCoord> = partition.coords();
    found.retain(|coord| reach.holds(coord));
    if let Storage::Chunked(chunked) = &storage.live_view()?.values()?.storage {
        found.extend(chunked.coords_within(storage.file(), &|coord| reach.holds(coord))?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Defined elements by their row-major numbers as a selection of the dataset's extent: of points those that are defined, in their order.
fn into_space(mut runs: Vec<Range<u64>>, numbers: &ElementNumbers, selection: &Space) -> Result<Space> {
    runs.sort_unstable_by_key(|run| run.start);
    runs.dedup_by(|right, left| {
        let touch = right.start <= left.end;
        if touch {
            left.end = left.end.max(right.end);
        }
        touch
    });
    let mut defined = Space::new(selection.extent().clone());
    if selection.kind() != Kind::Points {
        defined.select_row_major(runs)?;
        return Ok(defined);
    }
    let is_defined = |point: &Coords| {
        let number = numbers.number(point);
        let before = runs.partition_point(|run| run.start <= number);
        before.checked_sub(1).and_then(|nth| runs.get(nth)).is_some_and(|run| run.contains(&number))
    };
    let points: Vec<u64> = selection.coords()?.filter(is_defined).flatten().collect();
    match points.is_empty() {
        true => defined.select_none(),
        false => defined.select_points(&points)?,
    }
    Ok(defined)
}
