//! The defined elements of a chunk: their numbers, and their values one after the other.
//!
//! Their values may be missing, because they were not loaded yet or were given back.
//!
//! They are in segments of some KiB. A change makes only those anew that it touches, so a chunk may grow element by element.

use std::{iter::Peekable, ops::Range, slice, sync::Arc};

use super::{
    packed_values::{ElementShape, OwnValues, PackedValues},
    segment::{EachRun, Segment, Segments, lost},
};
use crate::{Error, Result};

/// So many segments are made anew at once: the old ones are in memory beside the new ones.
const AT_ONCE: usize = 16;

/// A chunk has no more runs: half a GiB of them. Writes and reads both hold to it, so what was written can be read.
pub(super) const MOST_RUNS: u64 = 1 << 26;

/// The defined elements of a chunk, by rising number.
#[derive(Debug)]
pub(super) struct PackedElements {
    /// What an element is.
    shape: Arc<ElementShape>,
    segments: Vec<Segment>,
    /// How many runs the segments have.
    runs: u64,
    has_values: bool,
}

/// Elements to change, and where their values are among those that come: at which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) range: Range<u32>,
    pub(super) from: usize,
}

impl PackedElements {
    /// None.
    pub(super) fn new(shape: Arc<ElementShape>) -> PackedElements {
        PackedElements { shape, segments: Vec::new(), runs: 0, has_values: true }
    }

    /// What segments were made of.
    pub(super) fn of(segments: Segments<'_>, shape: Arc<ElementShape>) -> Result<PackedElements> {
        let segments = segments.finish()?;
        Ok(PackedElements { runs: run_count(&segments), segments, shape, has_values: true })
    }

    /// As [`PackedElements::of`], of segments that were made without values.
    pub(super) fn without_values(segments: Segments<'_>, shape: Arc<ElementShape>) -> Result<PackedElements> {
        Ok(PackedElements { has_values: false, ..PackedElements::of(segments, shape)? })
    }

    /// Whether the values are in memory.
    pub(super) fn has_values(&self) -> bool {
        self.has_values
    }

    /// Gives back the memory of the values.
    pub(super) fn shed(&mut self) {
        self.segments.iter_mut().for_each(Segment::shed);
        // What has nothing lacks nothing.
        self.has_values = self.segments.is_empty();
    }

    /// Takes the values that are missing, those of all elements by rising number. If memory is short, they still are missing.
    pub(super) fn complete(&mut self, values: PackedValues<'_>) -> Result<()> {
        let mut segments = Segments::new(&self.shape);
        segments.push_all(self.runs(), Some(values))?;
        self.segments = segments.finish()?;
        (self.runs, self.has_values) = (run_count(&self.segments), true);
        Ok(())
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.count())).sum()
    }

    /// In about how many runs they are.
    pub(super) fn run_count(&self) -> u64 {
        self.runs
    }

    /// The bytes of what is of variable length in them.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.values().map(|values| values.heap.len() as u64).sum()
    }

    /// The memory that they take.
    pub(super) fn memory(&self) -> usize {
        let spare = (self.segments.capacity() - self.segments.len()) * size_of::<Segment>();
        spare + self.segments.iter().map(Segment::memory).sum::<usize>()
    }

    /// Runs of their numbers; a long one may come in several parts.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<u32>> {
        self.segments.iter().flat_map(Segment::runs)
    }

    /// Their values, in parts.
    pub(super) fn values(&self) -> impl Iterator<Item = PackedValues<'_>> {
        self.segments.iter().map(Segment::values)
    }

    /// Calls `each` for the defined elements of a range, run by run, with their values, or with none if these are missing.
    pub(super) fn visit(&self, wanted: Range<u32>, each: &mut EachRun<'_>) -> Result<()> {
        self.touched(&wanted).try_for_each(|segment| segment.visit(&wanted, &self.shape, each))
    }

    /// Adds the values of the defined elements of a range to others, and calls `each` for the runs of these elements.
    pub(super) fn append_defined(
        &self,
        wanted: Range<u32>,
        values: &mut OwnValues,
        mut each: impl FnMut(Range<u32>) -> Result<()>,
    ) -> Result<()> {
        self.touched(&wanted).try_for_each(|segment| {
            let own = segment.values_within(&wanted, &self.shape, &mut each)?.ok_or_else(lost)?;
            values.append(own, &self.shape)
        })
    }

    /// The segments that have elements of a range.
    fn touched(&self, wanted: &Range<u32>) -> impl Iterator<Item = &Segment> {
        let (first, end) = (self.segments.partition_point(|segment| segment.end() <= wanted.start), wanted.end);
        self.segments.iter().skip(first).take_while(move |segment| segment.first() < end)
    }

    /// Defines elements. The parts rise and do not overlap; `values` has what they are given.
    pub(super) fn write(&mut self, parts: &[Part], values: PackedValues<'_>) -> Result<()> {
        self.change(parts, Some(values))
    }

    /// Lets elements not be defined any more. The parts rise and do not overlap.
    pub(super) fn erase(&mut self, parts: &[Part]) -> Result<()> {
        self.change(parts, None)
    }

    /// Makes the segments anew that parts touch, some at a time.
    fn change(&mut self, mut parts: &[Part], values: Option<PackedValues<'_>>) -> Result<()> {
        while let Some(first) = parts.first() {
            // A segment has all numbers from its first one to that of the next; the first segment also those before it.
            let begin = self.segments.partition_point(|segment| segment.first() <= first.range.start).saturating_sub(1);
            let mut end = (begin + 1).min(self.segments.len());
            let mut taken = 0;
            for part in parts {
                let next = self.segments.get(end).map_or(u32::MAX, Segment::first);
                if part.range.start >= next {
                    break;
                }
                let reached = self.segments.partition_point(|segment| segment.first() < part.range.end);
                if taken > 0 && reached > begin + AT_ONCE {
                    break;
                }
                (end, taken) = (end.max(reached), taken + 1);
            }
            let (now, later) = parts.split_at(taken.max(1).min(parts.len()));
            let old = self.segments.get(begin..end).unwrap_or_default();
            let new = changed(old, now, values, &self.shape)?;
            let runs = self.runs - run_count(old) + run_count(&new);
            if runs > MOST_RUNS {
                let why =
                    format!("more than {MOST_RUNS} runs of defined elements in a chunk: smaller chunks have fewer");
                return Err(Error::Layout(why));
            }
            self.runs = runs;
            self.segments.splice(begin..end, new);
            parts = later;
        }
        self.segments.shrink_to(self.segments.len() + self.segments.len() / 4);
        Ok(())
    }
}

/// How many runs segments have.
fn run_count(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.run_count() as u64).sum()
}

/// Segments with parts changed: written, or erased if there are no values.
fn changed(
    old: &[Segment],
    parts: &[Part],
    values: Option<PackedValues<'_>>,
    shape: &ElementShape,
) -> Result<Vec<Segment>> {
    let mut new = Segments::new(shape);
    if let (true, Some(values), Some((first, count))) = (old.is_empty(), values, together(parts)) {
        // Values that lie one after the other are copied at once.
        let values = values.part(first, count, shape).ok_or_else(lost)?;
        new.push_all(parts.iter().map(|part| part.range.clone()), Some(values))?;
        return new.finish();
    }
    let mut parts = parts.iter().peekable();
    for segment in old {
        let all = segment.first()..segment.end();
        segment.visit(&all, shape, &mut |run, mut old| {
            let mut left = run;
            while !left.is_empty() {
                write_before(&mut new, &mut parts, left.start, values, shape)?;
                // Part of the run up to the next change stays as it is.
                let (keeps, until) = match parts.peek() {
                    Some(part) if part.range.start <= left.start => (false, part.range.end.min(left.end)),
                    Some(part) => (true, part.range.start.min(left.end)),
                    None => (true, left.end),
                };
                let (now, later) = old.split_at((until - left.start) as usize, shape).ok_or_else(lost)?;
                if keeps {
                    new.push(left.start..until, now)?;
                }
                (left.start, old) = (until, later);
            }
            Ok(())
        })?;
    }
    write_before(&mut new, &mut parts, u32::MAX, values, shape)?;
    new.finish()
}

/// The first of the values of parts, and how many there are, if they lie one after the other.
fn together(parts: &[Part]) -> Option<(usize, usize)> {
    let (first, last) = (parts.first()?, parts.last()?);
    let follow = |left: &Part, right: &Part| left.from + left.range.len() == right.from;
    parts.is_sorted_by(follow).then(|| (first.from, last.from + last.range.len() - first.from))
}

/// Writes the parts that end at a number or before it.
fn write_before(
    new: &mut Segments<'_>,
    parts: &mut Peekable<slice::Iter<'_, Part>>,
    number: u32,
    values: Option<PackedValues<'_>>,
    shape: &ElementShape,
) -> Result<()> {
    while let Some(part) = parts.next_if(|part| part.range.end <= number) {
        if let Some(values) = values {
            let values = values.part(part.from, part.range.len(), shape).ok_or_else(lost)?;
            new.push(part.range.clone(), values)?;
        }
    }
    Ok(())
}
