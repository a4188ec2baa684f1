//! Values that come in an order of the caller's own: as a list of coordinates, or of blocks. They are put in order once, before they are written.

use std::{borrow::Cow, ops::Range};

use hyperslab_base::memory;
use hyperslab_chunk::group_points;
use hyperslab_space::{Block, ElementRuns, Op, Space};

use super::OpenDataset;
use crate::{Error, Result};

/// The elements that values of a caller go to, each once, and which values these are.
#[derive(Debug)]
pub struct PlacedValues {
    /// The elements, in the order in which their values are written.
    pub selection: Space,
    /// The values in this order, by their numbers in the caller's order.
    order: Vec<Range<usize>>,
    /// How many values the caller has.
    given: usize,
}

impl PlacedValues {
    fn new(selection: Space, order: impl Iterator<Item = Range<usize>>, given: usize) -> Result<PlacedValues> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for next in order {
            match runs.last_mut() {
                Some(last) if last.end == next.start => last.end = next.end,
                _ => {
                    memory::reserve(&mut runs, 1)?;
                    runs.push(next);
                }
            }
        }
        Ok(PlacedValues { selection, order: runs, given })
    }

    /// An error if the caller does not have so many values.
    pub fn check_count(&self, values: usize) -> Result<()> {
        let (values, room) = (values as u64, self.given as u64);
        if values == room { Ok(()) } else { Err(Error::Length { values, room }) }
    }

    /// The values in the order in which they are written, of `size` bytes each.
    pub fn bytes<'a>(&self, given: &'a [u8], size: usize) -> Result<Cow<'a, [u8]>> {
        let outside = || Error::Length { values: (given.len() / size.max(1)) as u64, room: self.given as u64 };
        let of = |run: &Range<usize>| given.get(run.start * size..run.end * size).ok_or_else(outside);
        if let [one] = self.order.as_slice() {
            return of(one).map(Cow::Borrowed);
        }
        let count: usize = self.order.iter().map(Range::len).sum();
        let mut ordered = memory::with_room(count.saturating_mul(size))?;
        for run in &self.order {
            ordered.extend_from_slice(of(run)?);
        }
        Ok(Cow::Owned(ordered))
    }

    /// The values in the order in which they are written.
    pub fn values<'a, T>(&self, given: &'a [T]) -> Vec<&'a T> {
        self.order.iter().filter_map(|run| given.get(run.clone())).flatten().collect()
    }
}

impl OpenDataset {
    /// Values of single elements, whose coordinates follow each other: grouped by chunk. Of several values for one element, the last one counts.
    pub fn place_points(&self, coords: &[u64]) -> Result<PlacedValues> {
        let mut selection = self.space();
        selection.select_points(coords)?;
        selection.check_inside()?;
        let (dims, given) = (selection.dims().to_vec(), selection.npoints() as usize);
        if selection.extent().elements().is_none() {
            // The numbers of such elements have more than 64 bits. Points go as they are: the write sorts them chunk by chunk.
            return PlacedValues::new(selection, std::iter::once(0..given), given);
        }
        let chunk = self.inner.storage.with_state(|state| state.chunk().map(<[u64]>::to_vec));
        // What the header says of chunks is checked when the dataset is written.
        let elements = |chunk: &[u64]| chunk.iter().try_fold(1u64, |elements, side| elements.checked_mul(*side));
        let chunk = chunk.filter(|chunk| chunk.len() == dims.len() && elements(chunk).is_some_and(|all| all > 0));
        let order = group_points(&dims, chunk.as_deref().unwrap_or(&dims), coords)?;
        let mut end = 0;
        let follow = order.iter().all(|points| std::mem::replace(&mut end, points.end) == points.start);
        if !follow || end != given {
            let count: usize = order.iter().map(Range::len).sum();
            let mut grouped = memory::with_room(count.saturating_mul(dims.len()))?;
            let together = |points: &Range<usize>| coords.get(points.start * dims.len()..points.end * dims.len());
            order.iter().filter_map(together).for_each(|points| grouped.extend_from_slice(points));
            selection.select_points(&grouped)?;
        }
        PlacedValues::new(selection, order.into_iter(), given)
    }

    /// Values of blocks: those of each in row-major order, block by block. Where blocks overlap, the last one counts.
    pub fn place_blocks(&self, blocks: &[Block]) -> Result<PlacedValues> {
        let (mut placed, mut given) = (Vec::new(), 0usize);
        for block in blocks {
            let mut selection = self.space();
            selection.select_blocks(Op::Set, std::slice::from_ref(block))?;
            selection.check_inside()?;
            for run in ElementRuns::of(&selection)?.runs() {
                let len = usize::try_from(run.end - run.start).unwrap_or(usize::MAX);
                memory::reserve(&mut placed, 1)?;
                placed.push((run.clone(), given));
                given = given.saturating_add(len);
            }
        }
        placed.sort_by_key(|(run, _)| run.start);
        if !placed.is_sorted_by(|(left, _), (right, _)| left.end <= right.start) {
            placed = last_of_each(&placed)?;
        }
        let mut selection = self.space();
        selection.select_row_major(placed.iter().map(|(run, _)| run.clone()))?;
        let order = placed.iter().map(|(run, first)| *first..*first + (run.end - run.start) as usize);
        PlacedValues::new(selection, order, given)
    }
}

/// Runs of elements that overlap as single elements: of each the value that was given last.
fn last_of_each(placed: &[(Range<u64>, usize)]) -> Result<Vec<(Range<u64>, usize)>> {
    let mut elements = Vec::new();
    for (run, first) in placed {
        memory::reserve(&mut elements, (run.end - run.start) as usize)?;
        elements.extend(run.clone().zip(*first..));
    }
    elements.sort_unstable();
    let last = elements.chunk_by(|left, right| left.0 == right.0).filter_map(|same| same.last());
    Ok(last.map(|(number, nth)| (*number..number + 1, *nth)).collect())
}
