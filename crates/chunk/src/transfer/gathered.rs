//! Values that lie apart, side by side for their conversion.

use hyperslab_base::memory;
use hyperslab_dtype::{NoHeap, Plan};
use hyperslab_space::Move;

use super::scatter::outside;
use crate::Result;

/// Bytes that are converted together: they stay in the first cache of a core.
const BYTES: usize = 16 << 10;

/// Values of one buffer that wait for their conversion, and their places in another.
pub(super) struct Gathered<'a> {
    plan: &'a Plan,
    /// The byte of the other buffer that its part begins with.
    start: u64,
    /// How many values have room.
    room: u64,
    /// How many values wait.
    count: u64,
    from: Vec<u8>,
    to: Vec<u8>,
    /// Where the values that wait go: moves from `to`.
    places: Vec<Move>,
}

impl<'a> Gathered<'a> {
    /// For at most so many values. Memory is taken when the first ones come.
    pub(super) fn new(plan: &'a Plan, values: u64, start: u64) -> Gathered<'a> {
        let room = (BYTES / plan.source_size().max(plan.target_size()).max(1)) as u64;
        let (from, to, places) = Default::default();
        Gathered { plan, start, room: room.min(values).max(1), count: 0, from, to, places }
    }

    /// How many values are converted together.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Adds runs of values, given in values and none longer than there is room for. Those that wait are converted whenever there is no room for more.
    pub(super) fn add(&mut self, mut runs: Move, from: &[u8], to: &mut [u8]) -> Result<()> {
        let (source, target) = (self.plan.source_size() as u64, self.plan.target_size() as u64);
        if self.from.is_empty() {
            (self.from, self.to) = (memory::zeroed(self.room * source)?, memory::zeroed(self.room * target)?);
        }
        while runs.count > 0 {
            let count = ((self.room - self.count) / runs.len.max(1)).min(runs.count);
            if count == 0 {
                self.convert(to)?;
                continue;
            }
            let (len, step) = (runs.len * source, runs.from_step * source);
            let gathered =
                Move { from: runs.from * source, to: self.count * source, len, from_step: step, to_step: len, count };
            if !gathered.copy(from, &mut self.from) {
                return Err(outside());
            }
            let place = (runs.to * target).checked_sub(self.start).ok_or_else(outside)?;
            let (len, step) = (runs.len * target, runs.to_step * target);
            self.places.push(Move { from: self.count * target, to: place, len, from_step: len, to_step: step, count });
            self.count += runs.len * count;
            (runs.from, runs.to) = (runs.from + runs.from_step * count, runs.to + runs.to_step * count);
            runs.count -= count;
        }
        Ok(())
    }

    /// Converts the values that wait, and puts them in their places.
    pub(super) fn convert(&mut self, to: &mut [u8]) -> Result<()> {
        let bytes = |size: usize| usize::try_from(self.count).unwrap_or(usize::MAX).saturating_mul(size);
        let (source, target) = (bytes(self.plan.source_size()), bytes(self.plan.target_size()));
        let (Some(values), Some(converted)) = (self.from.get(..source), self.to.get_mut(..target)) else {
            return Err(outside());
        };
        if self.plan.keeps_background() {
            for place in &self.places {
                let (from_step, to_step) = (place.to_step, place.from_step);
                let back = Move { from: place.to, to: place.from, from_step, to_step, ..*place };
                if !back.copy(to, converted) {
                    return Err(outside());
                }
            }
        }
        dense(self.plan, values, converted)?;
        let placed = self.places.drain(..).all(|place| place.copy(converted, to));
        self.count = 0;
        if placed { Ok(()) } else { Err(outside()) }
    }
}

/// Converts values that lie one after the other.
pub(super) fn dense(plan: &Plan, from: &[u8], to: &mut [u8]) -> Result<()> {
    Ok(plan.convert(from.len() / plan.source_size().max(1), from, to, &NoHeap, &mut NoHeap)?)
}
