//! Which elements of sparse chunks are defined, and elements that are not to be any more. Both walk chunks that there are, and no others.

use std::ops::Range;

use hyperslab_space::{Coords, Kind, Piece, Space};

use super::{ChunkCache, ChunkPartition, RequestOptions, io_path::coords, reach::Reach};
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
        let mut found = Found::of(selection)?;
        self.for_each_stored(partition, selection, &mut |pieces| {
            self.for_each_list(partition, &pieces, (None, Part::Selection), &mut |list, bytes| {
                self.visit_list((options.file, partition), (list, bytes), &mut |chunk, piece| {
                    let mut rows = found.rows(layout.chunk(), &piece.chunk);
                    chunk.defined(&piece.file, &mut |run| rows.add(run))
                })
            })
        })?;
        found.into_space(selection)
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
    fn for_each_stored(
        &self,
        partition: &ChunkPartition,
        selection: &Space,
        each: &mut dyn FnMut(Vec<Piece>) -> Result<()>,
    ) -> Result<()> {
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
        let mut pieces = selection.pieces(grid, selection)?;
        loop {
            let mut next = pieces.batch(PIECES)?;
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

/// Defined elements, by their row-major numbers in the dataset.
struct Found {
    strides: Coords,
    runs: Vec<Range<u64>>,
}

/// Takes runs of one chunk.
struct Rows<'a> {
    found: &'a mut Found,
    chunk: &'a [u64],
    /// The number of the chunk's first element in the dataset.
    first: u64,
}

impl Found {
    fn of(selection: &Space) -> Result<Found> {
        let mut strides = Coords::from_elem(1, selection.rank());
        let mut elements = 1u64;
        for (stride, dim) in strides.iter_mut().zip(selection.dims()).rev() {
            *stride = elements;
            let too_many = || Error::Layout(format!("more than 2^64 elements in {:?}", selection.dims()));
            elements = elements.checked_mul((*dim).max(1)).ok_or_else(too_many)?;
        }
        Ok(Found { strides, runs: Vec::new() })
    }

    fn rows<'a>(&'a mut self, chunk: &'a [u64], coord: &[u64]) -> Rows<'a> {
        let corner = coord.iter().zip(chunk).zip(&self.strides);
        let first = corner.map(|((nth, side), stride)| nth * side * stride).sum();
        Rows { found: self, chunk, first }
    }

    /// A selection of the dataset's extent: of points those that are defined, in their order.
    fn into_space(mut self, selection: &Space) -> Result<Space> {
        self.runs.sort_unstable_by_key(|run| run.start);
        self.runs.dedup_by(|right, left| {
            let touch = right.start <= left.end;
            if touch {
                left.end = left.end.max(right.end);
            }
            touch
        });
        let mut defined = Space::new(selection.extent().clone());
        if selection.kind() != Kind::Points {
            defined.select_row_major(self.runs)?;
            return Ok(defined);
        }
        let number =
            |point: &Coords| point.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum::<u64>();
        let is_defined = |point: &Coords| {
            let number = number(point);
            let before = self.runs.partition_point(|run| run.start <= number);
            before.checked_sub(1).and_then(|nth| self.runs.get(nth)).is_some_and(|run| run.contains(&number))
        };
        let points: Vec<u64> = selection.coords()?.filter(is_defined).flatten().collect();
        match points.is_empty() {
            true => defined.select_none(),
            false => defined.select_points(&points)?,
        }
        Ok(defined)
    }
}

impl Rows<'_> {
    /// A run of the chunk is one run of the dataset in each row that it has a part of.
    fn add(&mut self, run: Range<u64>) -> Result<()> {
        let row = self.chunk.last().copied().unwrap_or(1).max(1);
        let mut start = run.start;
        while start < run.end {
            let end = (start - start % row + row).min(run.end);
            let (mut rest, mut number) = (start, self.first);
            for (side, stride) in self.chunk.iter().zip(&self.found.strides).rev() {
                number += rest % side * stride;
                rest /= side;
            }
            hyperslab_base::memory::reserve(&mut self.found.runs, 1)?;
            self.found.runs.push(number..number + (end - start));
            start = end;
        }
        Ok(())
    }
}
