//! A partition: which chunks it has, and what they take. How they leave is in `partition_eviction.rs`.

use std::sync::{Arc, Weak, atomic::AtomicUsize};

use hyperslab_space::Coords;
use rustc_hash::FxHashMap;

use crate::{
    Footprint, Grant, Pinned, Policy, WriteBack,
    counters::{Counter, Counters, Totals},
    life::{Event, Phase},
    order::Order,
    pinned::PendingPins,
    range_lock::RangeLock,
    share::Share,
    shared::Shared,
    slot::Slot,
    sync::{Mutex, Rank},
    write_failure::Unwritable,
};

/// A partition.
pub(crate) struct PartitionState<V: Footprint> {
    pub(crate) source: Arc<V::Source>,
    /// Its number: partitions are entered in this order.
    pub(crate) number: u64,
    /// What it keeps while others have more.
    pub(crate) reserve: AtomicUsize,
    pub(crate) share: Share,
    pub(crate) range_lock: RangeLock,
    pub(crate) slots: Mutex<Slots<V>>,
    pub(crate) counters: Counters,
    pub(crate) shared: Arc<Shared>,
    /// So that what is pinned finds its partition.
    pub(crate) this: Weak<PartitionState<V>>,
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
        source: Arc<V::Source>,
        number: u64,
        (reserve, limit): (usize, usize),
        policy: Policy,
        shared: Arc<Shared>,
    ) -> Arc<PartitionState<V>> {
        let slots = Slots { by_coord: FxHashMap::default(), order: policy.order() };
        Arc::new_cyclic(|this: &Weak<PartitionState<V>>| PartitionState {
            source,
            number,
            reserve: AtomicUsize::new(reserve),
            share: Share::new(limit),
            range_lock: RangeLock::default(),
            slots: Mutex::new(Rank::Slots, slots),
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
            self.cancel_load(slot);
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
    pub(crate) fn cancel_load(&self, slot: &Arc<Slot<V>>) {
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
            self.share.recount(before, after);
            self.shared.budget.adjust(0, before, after);
        }
    }

    /// Chunks take more, or less, in room that was granted.
    pub(crate) fn adjust(&self, grant: &mut Grant<'_>, before: usize, after: usize) {
        self.share.recount(before, after);
        grant.consume(before, after);
    }

    /// Counts anew from now on. What was counted so far.
    pub(crate) fn reset_counters(&self) -> Totals {
        self.share.reset_peak();
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

    /// A chunk was looked for that is not here.
    pub(crate) fn missed(&self, coord: &Coords) {
        if let Some(tuning) = &self.shared.tuning {
            tuning.missed(self.number, coord);
        }
        self.shared.looked(&self.counters, Counter::Misses, 1);
        self.shared.turned_over();
    }
}

impl<V: Footprint> Drop for PartitionState<V> {
    /// Chunks that were pinned when the partition was closed are freed with it.
    fn drop(&mut self) {
        self.leave_counters();
        self.resize(self.share.bytes(), 0);
        for slot in self.slots.lock().by_coord.values() {
            self.moved(&slot.coord, slot.phase(), Phase::Gone);
            self.shared.budget.recount_unwritable(slot.unwritable(), Unwritable::default());
        }
    }
}
