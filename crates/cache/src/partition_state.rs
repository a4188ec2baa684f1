//! A partition: which chunks it has, in which order they leave, and what they take.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab_space::Coords;
use rustc_hash::FxHashMap;

use crate::{
    Footprint, Grant, Pinned, Policy, WriteBack,
    counters::{Counter, Counters, Totals},
    life::{Event, Phase},
    order::{Order, Verdict},
    pinned::{Gone, Hold, PendingPins},
    range_lock::RangeLock,
    shared::Shared,
    slot::Slot,
    slot_state::Exit,
    sync::{Mutex, MutexGuard, Rank},
    write_failure::Unwritable,
};

/// A partition.
pub(crate) struct PartitionState<V: Footprint> {
    pub(crate) home: Arc<V::Home>,
    /// Its number: partitions are entered in this order.
    pub(crate) number: u64,
    /// What it keeps while others have more.
    pub(crate) reserve: AtomicUsize,
    pub(crate) turns: RangeLock,
    pub(crate) slots: Mutex<Slots<V>>,
    pub(crate) bytes: AtomicUsize,
    /// The most that its chunks took.
    pub(crate) peak: AtomicUsize,
    pub(crate) counters: Counters,
    pub(crate) shared: Arc<Shared>,
    /// So that what is pinned finds its partition.
    this: Weak<PartitionState<V>>,
}

/// Its chunks.
pub(crate) struct Slots<V: Footprint> {
    pub(crate) by_coord: FxHashMap<Coords, Arc<Slot<V>>>,
    pub(crate) order: Box<dyn Order>,
}

/// What a partition has of a chunk.
pub(crate) enum SlotLookup<V: Footprint> {
    /// It is there, or a thread loads it.
    Known(Arc<Slot<V>>),
    /// The thread that asked loads it.
    New(Arc<Slot<V>>),
}

/// A chunk that leaves.
pub(crate) enum Victim<V: Footprint> {
    /// It did.
    Gone(Gone<V>),
    /// It must be written first.
    Dirty(WriteBack<V>),
    /// It gave part of itself back, and stays.
    Shed,
}

impl<V: Footprint> Slots<V> {
    /// A chunk that a thread loads.
    fn add(&mut self, coord: &Coords) -> Arc<Slot<V>> {
        let slot = Arc::new(Slot::new(coord.clone()));
        self.by_coord.insert(coord.clone(), slot.clone());
        self.order.enter(coord);
        slot
    }
}

impl<V: Footprint> PartitionState<V> {
    pub(crate) fn new(
        home: Arc<V::Home>,
        number: u64,
        reserve: usize,
        policy: Policy,
        shared: Arc<Shared>,
    ) -> Arc<PartitionState<V>> {
        let slots = Slots { by_coord: FxHashMap::default(), order: policy.order() };
        Arc::new_cyclic(|this: &Weak<PartitionState<V>>| PartitionState {
            home,
            number,
            reserve: AtomicUsize::new(reserve),
            turns: RangeLock::default(),
            slots: Mutex::new(Rank::Slots, slots),
            bytes: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            counters: Counters::default(),
            shared,
            this: this.clone(),
        })
    }

    /// The chunk at a coordinate, known, and then perhaps used, or new.
    pub(crate) fn look(&self, coord: &Coords, uses: bool) -> SlotLookup<V> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.by_coord.get(coord).cloned() {
            if uses {
                slots.order.touch(coord);
            }
            return SlotLookup::Known(slot);
        }
        SlotLookup::New(slots.add(coord))
    }

    /// A chunk that is not in memory, or that only requests past the cache have, while no thread waits for it.
    pub(crate) fn bypass(&self, coord: &Coords) -> Option<Arc<Slot<V>>> {
        let mut slots = self.slots.lock();
        let slot = match slots.by_coord.get(coord) {
            // Each request past the cache has a reference, so has each thread that waits.
            Some(slot) if slot.bypasses() > 0 && Arc::strong_count(slot) == slot.bypasses() + 1 => slot.clone(),
            Some(_) => return None,
            None => slots.add(coord),
        };
        slot.begin_bypass();
        Some(slot)
    }

    /// A request past the cache has ended.
    pub(crate) fn end_bypass(&self, slot: &Arc<Slot<V>>) {
        let slots = self.slots.lock();
        let was_last = slot.end_bypass();
        drop(slots);
        if was_last {
            self.give_up(slot);
        }
    }

    /// The chunks at coordinates, if all are known.
    pub(crate) fn look_all(&self, coords: &[Coords]) -> Option<Vec<Arc<Slot<V>>>> {
        let mut slots = self.slots.lock();
        let known = coords.iter().map(|coord| slots.by_coord.get(coord).cloned()).collect::<Option<Vec<_>>>()?;
        coords.iter().for_each(|coord| slots.order.touch(coord));
        Some(known)
    }

    pub(crate) fn take(slot: Arc<Slot<V>>, pins: &mut PendingPins<'_, V>) -> Option<WriteBack<V>> {
        let (value, encoded) = slot.take(pins.partition())?;
        Some(WriteBack::new(Pinned { slot, value, partition: pins.next() }, encoded, false))
    }

    /// A load has failed.
    pub(crate) fn give_up(&self, slot: &Arc<Slot<V>>) {
        let mut slots = self.slots.lock();
        if slots.by_coord.get(&slot.coord).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            slots.by_coord.remove(&slot.coord);
            slots.order.leave(&slot.coord, false);
        }
        drop(slots);
        slot.happen(Event::Leave, self);
    }

    /// Chunks take more, or less.
    pub(crate) fn resize(&self, before: usize, after: usize) {
        if before != after {
            self.recount(before, after);
            self.shared.budget.settle(0, before, after);
        }
    }

    /// Chunks take more, or less, in room that was granted.
    pub(crate) fn settle(&self, grant: &mut Grant<'_>, before: usize, after: usize) {
        self.recount(before, after);
        grant.spend(before, after);
    }

    fn recount(&self, before: usize, after: usize) {
        if after > before {
            let now = self.bytes.fetch_add(after - before, Ordering::Relaxed) + (after - before);
            self.peak.fetch_max(now, Ordering::Relaxed);
        } else {
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Counts anew from now on. What was counted so far.
    pub(crate) fn reset_counters(&self) -> Totals {
        self.peak.store(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        self.counters.take()
    }

    /// Leaves what it counted to the cache, which has it in its sums from then on.
    pub(crate) fn leave_counters(&self) {
        self.shared.counters.absorb(&self.reset_counters());
    }

    /// The chunk at a coordinate went on in its life.
    pub(crate) fn moved(&self, coord: &Coords, from: Phase, to: Phase) {
        self.shared.moved((self.number, coord), from, to);
    }

    /// The chunks whose values are not in the file, and no others, by rising coordinate.
    pub(crate) fn unwritten(&self) -> Vec<Arc<Slot<V>>> {
        let coords = self.shared.unwritten.of(self.number);
        self.counters.add(Counter::DirtyVisits, coords.len() as u64);
        let slots = self.slots.lock();
        // One that is not here any more was written or deleted since.
        let mut unwritten: Vec<_> = coords.iter().filter_map(|coord| slots.by_coord.get(coord).cloned()).collect();
        drop(slots);
        unwritten.sort_unstable_by(|left, right| left.coord.cmp(&right.coord));
        unwritten
    }

    /// What it has beyond its reserve, or at all.
    pub(crate) fn surplus(&self, spare_reserve: bool) -> usize {
        let bytes = self.bytes.load(Ordering::Relaxed);
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
        if V::SHEDS
            && let Some(value) = slot.clean_value()
        {
            let pinned = Pinned { slot: slot.clone(), value, partition: Hold::unreserved(self.this.upgrade()?) };
            // The value is locked before the slots.
            drop(slots);
            if pinned.shed() {
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

    /// A chunk was looked for that is not here.
    pub(crate) fn missed(&self, coord: &Coords) {
        if let Some(tuning) = &self.shared.tuning {
            tuning.missed(self.number, coord);
        }
        self.shared.looked(&self.counters, Counter::Misses, 1);
        self.shared.turned_over();
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

impl<V: Footprint> Drop for PartitionState<V> {
    /// Chunks that were pinned when the partition was closed are freed with it.
    fn drop(&mut self) {
        self.leave_counters();
        self.resize(self.bytes.load(Ordering::Relaxed), 0);
        for slot in self.slots.lock().by_coord.values() {
            self.moved(&slot.coord, slot.phase(), Phase::Gone);
            self.shared.budget.recount_unwritable(slot.unwritable(), Unwritable::default());
        }
    }
}
