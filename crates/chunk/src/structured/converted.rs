//! Values of a sparse chunk that are converted on the way between it and the caller, some KiB at a time.

use hyperslab_base::memory;
use hyperslab_dtype::{NoHeap, Plan};

use super::{
    packed_elements::{PackedElements, Part},
    packed_values::PackedValues,
    sparse_chunk::SparseChunk,
};
use crate::{ChunkLayout, ReadBuffer, Result, transfer::scatter::outside};

/// Bytes that are converted together: they stay in the first cache of a core.
const BYTES: usize = 16 << 10;

/// How many values are converted together.
fn room(plan: &Plan) -> usize {
    (BYTES / plan.source_size().max(plan.target_size()).max(1)).max(1)
}

/// Values of a chunk on their way to the caller.
pub(super) struct ConvertedReads<'a> {
    plan: &'a Plan,
    /// Values that wait, as they are stored.
    stored: Vec<u8>,
    /// What becomes of them.
    converted: Vec<u8>,
    count: usize,
    /// Where they go: the first place, and how many places.
    places: Vec<(u64, usize)>,
}

impl<'a> ConvertedReads<'a> {
    pub(super) fn new(plan: &'a Plan) -> Result<ConvertedReads<'a>> {
        let zeroed = |size: usize| memory::zeroed((room(plan) * size) as u64);
        let (stored, converted) = (zeroed(plan.source_size())?, zeroed(plan.target_size())?);
        Ok(ConvertedReads { plan, stored, converted, count: 0, places: Vec::new() })
    }

    /// Adds values for places that lie one after the other: `copy` puts so many, from the given one on, into its buffer.
    pub(super) fn add(
        &mut self,
        (mut place, mut count): (u64, u64),
        to: &mut ReadBuffer<'_>,
        mut copy: impl FnMut(u64, usize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut nth, size) = (0, self.plan.source_size());
        while count > 0 {
            let free = room(self.plan) - self.count;
            let some = usize::try_from(count).unwrap_or(usize::MAX).min(free);
            let waiting = self.stored.get_mut(self.count * size..(self.count + some) * size).ok_or_else(outside)?;
            copy(nth, some, waiting)?;
            self.places.push((place, some));
            self.count += some;
            (nth, place, count) = (nth + some as u64, place + some as u64, count - some as u64);
            if some == free {
                self.convert(to)?;
            }
        }
        Ok(())
    }

    /// Converts the values that wait, and puts them in their places.
    pub(super) fn convert(&mut self, to: &mut ReadBuffer<'_>) -> Result<()> {
        let size = self.plan.target_size();
        let converted = self.converted.get_mut(..self.count * size).ok_or_else(outside)?;
        if self.plan.keeps_background() {
            let mut rest = &mut *converted;
            for (place, count) in &self.places {
                let (now, later) = rest.split_at_mut_checked(count * size).ok_or_else(outside)?;
                now.copy_from_slice(to.places(*place, *count as u64, size as u64)?);
                rest = later;
            }
        }
        let stored = self.stored.get(..self.count * self.plan.source_size()).ok_or_else(outside)?;
        self.plan.convert(self.count, stored, converted, &NoHeap, &mut NoHeap)?;
        let mut rest = &*converted;
        for (place, count) in self.places.drain(..) {
            let (now, later) = rest.split_at_checked(count * size).ok_or_else(outside)?;
            to.places(place, count as u64, size as u64)?.copy_from_slice(now);
            rest = later;
        }
        self.count = 0;
        Ok(())
    }
}

impl SparseChunk {
    /// Defines elements with what a plan makes of the caller's values. What the plan does not write of an element stays, or is that of the fill value.
    pub(super) fn write_converted(
        &mut self,
        plan: &Plan,
        parts: &[Part],
        from: &[u8],
        layout: &ChunkLayout,
    ) -> Result<()> {
        let (source, target) = (plan.source_size(), plan.target_size());
        let (mut given, mut values, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let mut left = part.clone();
            while !left.range.is_empty() {
                let count = left.range.len().min(room(plan) - given.len() / source.max(1));
                let (range, first) = (left.range.start..left.range.start + count as u32, values.len() / target.max(1));
                let bytes = from.get(left.from * source..(left.from + count) * source).ok_or_else(outside)?;
                memory::append(&mut given, bytes)?;
                memory::resize(&mut values, (first + count) * target, 0)?;
                if plan.keeps_background() {
                    let old = values.get_mut(first * target..).ok_or_else(outside)?;
                    self.copy(range.clone(), old, None, layout)?;
                }
                (left.range.start, left.from) = (range.end, left.from + count);
                waiting.push(Part { range, from: first });
                if given.len() / source.max(1) == room(plan) {
                    convert(plan, (&mut given, &mut values), &mut waiting, self.elements_mut())?;
                }
            }
        }
        convert(plan, (&mut given, &mut values), &mut waiting, self.elements_mut())
    }
}

/// Converts the values that wait, and defines their elements.
fn convert(
    plan: &Plan,
    (given, values): (&mut Vec<u8>, &mut Vec<u8>),
    waiting: &mut Vec<Part>,
    elements: &mut PackedElements,
) -> Result<()> {
    plan.convert(given.len() / plan.source_size().max(1), given, values, &NoHeap, &mut NoHeap)?;
    elements.write(waiting, PackedValues { fixed: values, heap: &[] })?;
    given.clear();
    values.clear();
    waiting.clear();
    Ok(())
}
