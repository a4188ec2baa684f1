//! Values of a sparse chunk that are converted on the way between it and the caller, some KiB at a time.

use hyperslab_base::memory;
use hyperslab_dtype::{NoHeap, Plan};

use crate::{ReadBuffer, Result, transfer::scatter::outside};

/// Bytes that are converted together: they stay in the first cache of a core.
const BYTES: usize = 16 << 10;

/// How many values are converted together.
pub(super) fn room(plan: &Plan) -> usize {
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
