//! A segment: some defined elements that follow each other, with their values.

use std::ops::Range;

use hyperslab_base::memory;

use super::packed_values::{ElementShape, PackedValues};
use crate::{Error, Result};

/// What is done with runs of defined elements and their values.
pub(super) type EachRun<'a> = dyn FnMut(Range<u32>, PackedValues<'_>) -> Result<()> + 'a;

/// About the bytes of a segment: a change of one element copies no more.
const BYTES: usize = 32 << 10;

/// Elements with consecutive numbers.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    /// How many elements of the segment come before it.
    before: u32,
}

/// Defined elements by rising number, at least one, and their values, if these are in memory.
#[derive(Debug, Default)]
pub(super) struct Segment {
    runs: Vec<Run>,
    count: u32,
    fixed: Vec<u8>,
    heap: Vec<u8>,
}

impl Segment {
    /// The number of the first element.
    pub(super) fn first(&self) -> u32 {
        self.runs.first().map_or(0, |run| run.first)
    }

    /// The number after that of the last element.
    pub(super) fn end(&self) -> u32 {
        self.runs.last().map_or(0, |run| run.first + (self.count - run.before))
    }

    /// How many elements there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// In how many runs they are.
    pub(super) fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// All values, by rising number of their elements.
    pub(super) fn values(&self) -> PackedValues<'_> {
        PackedValues { fixed: &self.fixed, heap: &self.heap }
    }

    /// The memory that it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Segment>() + self.runs.capacity() * size_of::<Run>() + self.fixed.capacity() + self.heap.capacity()
    }

    /// The runs from one on, with the number of elements before each.
    fn runs_from(&self, nth: usize) -> impl Iterator<Item = (Range<u32>, usize)> {
        let runs = self.runs.get(nth..).unwrap_or_default();
        let next = runs.iter().skip(1).map(|run| run.before).chain([self.count]);
        runs.iter().zip(next).map(|(run, end)| (run.first..run.first + (end - run.before), run.before as usize))
    }

    /// The runs of its elements.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<u32>> {
        self.runs_from(0).map(|(range, _)| range)
    }

    /// The runs of its elements that are in a range, with the number of elements before each.
    fn runs_within(&self, wanted: &Range<u32>) -> impl Iterator<Item = (Range<u32>, usize)> {
        let (low, high) = (wanted.start, wanted.end);
        let nth = self.runs.partition_point(|run| run.first <= low).saturating_sub(1);
        let touched = self.runs_from(nth).take_while(move |(run, _)| run.start < high);
        touched.filter_map(move |(run, before)| {
            let (start, end) = (run.start.max(low), run.end.min(high));
            (start < end).then(|| (start..end, before + (start - run.start) as usize))
        })
    }

    /// Calls `each` for the defined elements of a range, run by run, with their values.
    pub(super) fn visit(&self, wanted: &Range<u32>, shape: &ElementShape, each: &mut EachRun<'_>) -> Result<()> {
        for (run, first) in self.runs_within(wanted) {
            let values = self.values().part(first, run.len(), shape);
            each(run, values.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Calls `each` for the runs of defined elements of a range. The values of all of them, which lie one after the other; nothing if they are missing.
    pub(super) fn values_within(
        &self,
        wanted: &Range<u32>,
        shape: &ElementShape,
        mut each: impl FnMut(Range<u32>) -> Result<()>,
    ) -> Result<Option<PackedValues<'_>>> {
        let (mut begin, mut count) = (None, 0);
        for (run, first) in self.runs_within(wanted) {
            begin.get_or_insert(first);
            count += run.len();
            each(run)?;
        }
        Ok(self.values().part(begin.unwrap_or_default(), count, shape))
    }

    /// Gives back the memory of the values.
    pub(super) fn shed(&mut self) {
        (self.fixed, self.heap) = Default::default();
    }

    /// Adds elements behind all others.
    fn push(&mut self, range: Range<u32>, values: PackedValues<'_>, shape: &ElementShape) -> Result<()> {
        values.append_to(shape, &mut self.fixed, &mut self.heap)?;
        self.push_run(range)
    }

    /// Adds elements behind all others, whose values come later.
    fn push_run(&mut self, range: Range<u32>) -> Result<()> {
        if self.end() != range.start || self.runs.is_empty() {
            memory::reserve(&mut self.runs, 1)?;
            self.runs.push(Run { first: range.start, before: self.count });
        }
        self.count += range.end - range.start;
        Ok(())
    }

    /// How many of these elements still fit: at least one, if there are none yet.
    fn room(&self, values: PackedValues<'_>, shape: &ElementShape) -> Result<usize> {
        if values.fixed.is_empty() {
            // Values that are missing take nothing: when they come, the elements are cut anew.
            return Ok(if self.runs.len() * size_of::<Run>() < BYTES { usize::MAX } else { 0 });
        }
        if shape.slots.is_empty() {
            return Ok(self.room_for_fixed(shape));
        }
        let left = self.left(shape);
        let fitting = if left < shape.size { 0 } else { values.fitting(left, shape)? };
        Ok(if self.count == 0 { fitting.max(1) } else { fitting })
    }

    /// As [`Segment::room`], of elements that are not of variable length.
    fn room_for_fixed(&self, shape: &ElementShape) -> usize {
        let fitting = self.left(shape) / shape.size.max(1);
        if self.count == 0 { fitting.max(1) } else { fitting }
    }

    /// The bytes that the segment may still take.
    fn left(&self, shape: &ElementShape) -> usize {
        let used = self.count as usize * shape.size + self.heap.len() + self.runs.len() * size_of::<Run>();
        BYTES.saturating_sub(used)
    }
}

/// Makes segments of elements that come by rising number.
pub(super) struct Segments<'a> {
    shape: &'a ElementShape,
    made: Vec<Segment>,
    open: Segment,
}

impl<'a> Segments<'a> {
    /// For elements of this shape.
    pub(super) fn new(shape: &'a ElementShape) -> Segments<'a> {
        Segments { shape, made: Vec::new(), open: Segment::default() }
    }

    /// Adds elements behind all others, with their values.
    pub(super) fn push(&mut self, mut range: Range<u32>, mut values: PackedValues<'_>) -> Result<()> {
        while !range.is_empty() {
            let room = self.open.room(values, self.shape)?;
            if room == 0 {
                self.close()?;
                continue;
            }
            let count = room.min(range.len());
            let (now, later) = values.split_at(count, self.shape).unwrap_or_default();
            let middle = range.start + count as u32;
            self.open.push(range.start..middle, now, self.shape)?;
            (range.start, values) = (middle, later);
        }
        Ok(())
    }

    /// Adds runs of elements behind all others, with their values one after the other; without, if the values of all elements are missing.
    pub(super) fn push_all(
        &mut self,
        mut runs: impl Iterator<Item = Range<u32>>,
        values: Option<PackedValues<'_>>,
    ) -> Result<()> {
        let Some(mut values) = values else {
            return runs.try_for_each(|run| self.push(run, PackedValues::default()));
        };
        let shape = self.shape;
        for mut run in runs {
            if !shape.slots.is_empty() {
                let (now, later) = values.split_at(run.len(), shape).ok_or_else(lost)?;
                self.push(run, now)?;
                values = later;
                continue;
            }
            // The values of a segment are copied at once.
            while !run.is_empty() {
                let room = self.open.room_for_fixed(shape);
                if room == 0 {
                    values = self.fill(values)?;
                    self.close()?;
                    continue;
                }
                let middle = run.start + room.min(run.len()) as u32;
                self.open.push_run(run.start..middle)?;
                run.start = middle;
            }
        }
        if self.fill(values)?.fixed.is_empty() { Ok(()) } else { Err(lost()) }
    }

    /// Gives the open segment the first of some values, those that it lacks; the values after them.
    fn fill<'b>(&mut self, values: PackedValues<'b>) -> Result<PackedValues<'b>> {
        let lacking = self.open.count as usize - self.open.fixed.len() / self.shape.size.max(1);
        let (now, later) = values.split_at(lacking, self.shape).ok_or_else(lost)?;
        now.append_to(self.shape, &mut self.open.fixed, &mut self.open.heap)?;
        Ok(later)
    }

    /// The segments, with no more memory than they need.
    pub(super) fn finish(mut self) -> Result<Vec<Segment>> {
        if self.open.memory() < BYTES / 2
            && let Some(before) = self.made.pop()
        {
            // A segment that has become too large makes two halves, so that both can grow.
            let last = std::mem::take(&mut self.open);
            self.halve(&before, &last)?;
        }
        self.close()?;
        self.made.shrink_to_fit();
        Ok(self.made)
    }

    /// Adds the elements of two segments as two that have equally many.
    fn halve(&mut self, before: &Segment, last: &Segment) -> Result<()> {
        let (shape, half) = (self.shape, (before.count + last.count) / 2);
        let (mut first, mut second) = (Segment::default(), Segment::default());
        for segment in [before, last] {
            segment.visit(&(0..u32::MAX), shape, &mut |run, values| {
                let count = half.saturating_sub(first.count).min(run.end - run.start);
                let (now, later) = values.split_at(count as usize, shape).unwrap_or_default();
                let middle = run.start + count;
                if count > 0 {
                    first.push(run.start..middle, now, shape)?;
                }
                if middle < run.end {
                    second.push(middle..run.end, later, shape)?;
                }
                Ok(())
            })?;
        }
        self.open = first;
        self.close()?;
        self.open = second;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let mut segment = std::mem::take(&mut self.open);
        if segment.count > 0 {
            segment.fixed.shrink_to_fit();
            segment.heap.shrink_to_fit();
            segment.runs.shrink_to_fit();
            memory::reserve(&mut self.made, 1)?;
            self.made.push(segment);
        }
        Ok(())
    }
}

/// Refuses what cannot be: values that are not as many as their elements.
pub(super) fn lost() -> Error {
    Error::Layout("a sparse chunk has fewer values than elements".into())
}

/// The most memory that so many elements in so many runs take more, wherever they come between others.
pub(super) fn most_growth(elements: u64, runs: u64, element: u64) -> u64 {
    // A run that comes into the middle of another one makes three of one.
    most_memory(elements, runs.saturating_mul(2), element)
}

/// The most memory that so many elements in so many runs take.
pub(super) fn most_memory(elements: u64, runs: u64, element: u64) -> u64 {
    let bytes = elements.saturating_mul(element).saturating_add(runs.saturating_mul(size_of::<Run>() as u64));
    in_segments(bytes)
}

/// The most memory of segments with so many bytes.
pub(super) fn in_segments(bytes: u64) -> u64 {
    // Segments that are made anew may be filled in another way: there may be one more on each side.
    let segments = bytes / (BYTES as u64 / 2) + 4;
    bytes.saturating_add(segments.saturating_mul(2 * size_of::<Segment>() as u64))
}
