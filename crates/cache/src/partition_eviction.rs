//! How chunks of one partition leave: to make room for others, for chunks of the same dataset, or because they are to be written anyway.

use std::sync::{Arc, atomic::Ordering};

use hyperslab_space::Coords;

use crate::{
    Footprint, Pinned, WriteBack,
    counters::Counter,
    order::Verdict,
    partition_state::{PartitionState, Slots},
    pinned::{Gone, Hold},
    share::Claim,
    slot::Slot,
    slot_state::Exit,
    sync::MutexGuard,
};

/// A chunk that leaves.
pub(crate) enum Victim<V: Footprint> {
    /// It did.
    Gone(Gone<V>),
    /// It must be written first.
    Dirty(WriteBack<V>),
    /// It gave part of itself back, and stays.
    Shed,
}

/// What came of asking for a part of the share of a dataset.
pub(crate) enum Claiming<'a, V: Footprint> {
    /// It may come.
    Claimed(Claim<'a>),
    /// It may when these are written.
    Dirty(Vec<WriteBack<V>>),
    /// It may not: it is too large, or threads have all that could leave.
    Full,
}

/// When chunks must be written to make room, such a part of the limit is written with them.
pub(crate) const MORE: usize = 16;

impl<V: Footprint> PartitionState<V> {
    /// So many bytes of its share for chunks that come, for which chunks of its own leave. Never waits.
    pub(crate) fn claim(&self, bytes: usize) -> Claiming<'_, V> {
        if bytes > self.share.limit() {
            return Claiming::Full;
        }
        loop {
            if let Some(claim) = self.share.try_claim(bytes) {
                return Claiming::Claimed(claim);
            }
            let (dirty, any) = self.trim(bytes);
            if !dirty.is_empty() {
                return Claiming::Dirty(dirty);
            }
            if !any {
                return Claiming::Full;
            }
        }
    }

    /// Lets its chunks leave until there is room in its share for so many bytes more; what must be written first, and whether anything has left.
    pub(crate) fn trim(&self, bytes: usize) -> (Vec<WriteBack<V>>, bool) {
        let mut dirty = Vec::new();
        let (mut any, coming) = self.evict_while(&mut dirty, |coming| self.share.excess(bytes) > coming);
        if !any && dirty.is_empty() && self.share.excess(bytes) > 0 {
            any = self.drop_encoded();
        }
        if let Some(size) = dirty.last().map(WriteBack::footprint).filter(|size| *size > 0) {
            // As for the cache as a whole: chunks that come one by one do not wait each for one that is written alone.
            let more = self.share.limit() / MORE / size * size;
            self.take_more_while(&mut dirty, |more_coming| {
                self.share.excess(bytes.saturating_add(more)) > coming + more_coming
            });
        }
        (dirty, any)
    }

    /// Lets chunks leave, in their order, as long as it is `wanted` when so many bytes of `dirty` chunks are about to leave; whether some have left that need
    /// not be written, and how many bytes those take that must.
    pub(crate) fn evict_while(&self, dirty: &mut Vec<WriteBack<V>>, wanted: impl Fn(usize) -> bool) -> (bool, usize) {
        let (mut any, mut coming) = (false, 0);
        while wanted(coming) {
            match self.victim() {
                Some(Victim::Gone(gone)) => {
                    any = true;
                    drop(gone);
                }
                Some(Victim::Shed) => any = true,
                Some(Victim::Dirty(taken)) => {
                    coming += taken.footprint();
                    dirty.push(taken);
                }
                None => break,
            }
        }
        (any, coming)
    }

    /// Adds to `dirty` chunks more that are written with them, as long as it is `wanted` when so many bytes more leave, and there is memory for what they are
    /// encoded to. How many bytes they take.
    pub(crate) fn take_more_while(&self, dirty: &mut Vec<WriteBack<V>>, wanted: impl Fn(usize) -> bool) -> usize {
        let (budget, size) = (&self.shared.budget, dirty.last().map_or(0, WriteBack::footprint));
        let mut coming = 0;
        while wanted(coming) && budget.lend(size) {
            match self.victim() {
                Some(Victim::Dirty(taken)) => {
                    coming += taken.footprint();
                    dirty.push(taken.with(size));
                }
                left => {
                    budget.give_back(size);
                    if left.is_none() {
                        break;
                    }
                }
            }
        }
        coming
    }

    /// What it has beyond its reserve, or at all.
    pub(crate) fn surplus(&self, spare_reserve: bool) -> usize {
        let bytes = self.share.bytes();
        bytes.saturating_sub(if spare_reserve { self.reserve.load(Ordering::Relaxed) } else { 0 })
    }

    /// Lets a chunk leave if it may.
    pub(crate) fn evict(&self, coord: &Coords) -> Option<Gone<V>> {
        let mut slots = self.slots.lock();
        let slot = slots.by_coord.get(coord)?.clone();
        let value = slot.leave(self)?;
        slots.by_coord.remove(coord);
        slots.order.leave(coord, true);
        // Before others see that it is gone.
        let partition = Hold::unreserved(self.this.upgrade()?);
        drop(slots);
        Some(Gone::new(value, slot, partition))
    }

    /// The next chunk to leave, if one may: gone, or taken to be written first.
    pub(crate) fn victim(&self) -> Option<Victim<V>> {
        let mut slots = self.slots.lock();
        let Slots { by_coord, order } = &mut *slots;
        let mut judge = |coord: &Coords| match by_coord.get(coord) {
            Some(slot) if !slot.is_free() => Verdict::Stay,
            Some(slot) if slot.spare() => Verdict::Spare,
            _ => Verdict::Leave,
        };
        let coord = order.victim(&mut judge)?;
        let slot = by_coord.get(&coord)?.clone();
        if V::sheds(&self.source)
            && let Some(value) = slot.clean_value()
        {
            let pinned = Pinned { slot: slot.clone(), value, partition: Hold::unreserved(self.this.upgrade()?) };
            // The value is locked before the slots.
            drop(slots);
            if pinned.shed() {
                // What is left is small, and stays as long as the whole did.
                self.slots.lock().order.touch(&coord);
                return Some(Victim::Shed);
            }
            drop(pinned);
            slots = self.slots.lock();
        }
        self.exit(slots, slot)
    }

    /// The caller gets a dirty chunk to write, which then leaves. It gets nothing if another thread has the chunk in hand, or if only a part of the chunk was used.
    pub(crate) fn take_whole(&self, slot: Arc<Slot<V>>) -> Option<WriteBack<V>> {
        let slots = self.slots.lock();
        if slot.is_partly() || !slots.by_coord.get(&slot.coord).is_some_and(|known| Arc::ptr_eq(known, &slot)) {
            return None;
        }
        match self.exit(slots, slot)? {
            Victim::Dirty(taken) => Some(taken),
            Victim::Gone(_) | Victim::Shed => None,
        }
    }

    /// Lets a chunk of the partition leave, or takes it to be written first.
    fn exit(&self, mut slots: MutexGuard<'_, Slots<V>>, slot: Arc<Slot<V>>) -> Option<Victim<V>> {
        let partition = self.this.upgrade()?;
        match slot.exit(self) {
            Exit::Gone(value) => {
                slots.by_coord.remove(&slot.coord);
                slots.order.leave(&slot.coord, true);
                let partition = Hold::unreserved(partition);
                drop(slots);
                let gone = Gone::new(value, slot, partition);
                self.evicted(&gone);
                Some(Victim::Gone(gone))
            }
            Exit::Dirty((value, encoded)) => {
                // While it is written, it need not be passed by.
                slots.order.leave(&slot.coord, true);
                let partition = Hold::unreserved(partition);
                drop(slots);
                Some(Victim::Dirty(WriteBack::new(Pinned { slot, value, partition }, encoded, true)))
            }
            Exit::Busy => None,
        }
    }

    /// Hands out dirty chunks that no thread has and that are not encoded yet, in the order in which they would leave, as long as there is something `left` to
    /// hand out. Goes past no more than so many bytes of chunks.
    pub(crate) fn near_exit(&self, mut within: usize, left: &mut usize) -> Vec<Pinned<V>> {
        let (slots, mut found) = (self.slots.lock(), Vec::new());
        for coord in slots.order.walk() {
            let Some(slot) = slots.by_coord.get(coord).filter(|_| within > 0 && *left > 0) else { break };
            within = within.saturating_sub(slot.counted());
            let (Some((value, size)), Some(partition)) = (slot.waits_for_coding(), self.this.upgrade()) else {
                continue;
            };
            *left = left.saturating_sub(size);
            found.push(Pinned { slot: slot.clone(), value, partition: Hold::unreserved(partition) });
        }
        found
    }

    /// Drops what was encoded ahead of time; whether there was something.
    pub(crate) fn drop_encoded(&self) -> bool {
        self.unwritten().iter().filter(|slot| slot.drop_encoded(self)).count() > 0
    }

    /// A chunk leaves to make room, if the file has it and no thread holds it. The result says whether the chunk left.
    pub(crate) fn leave(&self, coord: &Coords) -> bool {
        let gone = self.evict(coord);
        gone.iter().for_each(|gone| self.evicted(gone));
        gone.is_some()
    }

    /// A chunk that was to leave stays: as if it had been `used`, or as the next that leaves.
    pub(crate) fn stay(&self, slot: &Arc<Slot<V>>, used: bool) {
        let mut slots = self.slots.lock();
        if slots.by_coord.get(&slot.coord).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            if used { slots.order.enter(&slot.coord) } else { slots.order.restore(&slot.coord) }
        }
    }

    fn evicted(&self, gone: &Gone<V>) {
        self.counters.add(Counter::Evictions, 1);
        if let Some(tuning) = &self.shared.tuning {
            tuning.left(self.number, gone.coord(), gone.bytes(), &self.shared.budget);
        }
    }

    /// The coordinates of all chunks, in the order in which they would leave.
    pub(crate) fn in_order(&self) -> Vec<Coords> {
        self.slots.lock().order.walk().cloned().collect()
    }
}
