//! The chunks of one dataset: what requests call.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hyperslab_space::Coords;

use crate::{
    Demand, Footprint, LockRange, Pinned, Policy, RangeGuard, Reservation, Statistics, WriteBack,
    counters::Counter,
    partition_state::{PartitionState, Slots},
    pinned::{Gone, Hold, PendingPins},
    shared::Shared,
    slot::Slot,
};

/// The chunks of one dataset. Cheap to clone.
pub struct Partition<V: Footprint> {
    pub(crate) inner: Arc<PartitionState<V>>,
}

impl<V: Footprint> Clone for Partition<V> {
    fn clone(&self) -> Partition<V> {
        Partition { inner: self.inner.clone() }
    }
}

impl<V: Footprint> Partition<V> {
    pub(crate) fn new(
        source: Arc<V::Source>,
        number: u64,
        shares: (usize, usize),
        policy: Policy,
        shared: Arc<Shared>,
    ) -> Partition<V> {
        Partition { inner: PartitionState::new(source, number, shares, policy, shared) }
    }

    /// Its number. A thread that locks ranges of several partitions does so in the order of their numbers.
    pub fn number(&self) -> u64 {
        self.inner.number
    }

    /// What it is of.
    pub fn source(&self) -> &Arc<V::Source> {
        &self.inner.source
    }

    /// What it keeps from now on while others have more, in bytes.
    pub fn set_reserve(&self, bytes: usize) {
        self.inner.reserve.store(bytes, Ordering::Relaxed);
    }

    /// What its chunks may take from now on, in bytes, beside the limits of the cache. Those that are too many leave [at once](Partition::trim), or when
    /// others come.
    pub fn set_limit(&self, bytes: usize) {
        self.inner.share.set_limit(bytes);
    }

    /// What its chunks may take beside the limits of the cache; [`usize::MAX`] if there is no other limit.
    pub fn limit(&self) -> usize {
        self.inner.share.limit()
    }

    /// Lets chunks leave that are too many for its limit. The caller writes those that it gets, and asks again until there are none.
    pub fn trim(&self) -> Vec<WriteBack<V>> {
        loop {
            let (dirty, any) = self.inner.trim(0);
            if !any || !dirty.is_empty() {
                return dirty;
            }
        }
    }

    /// Which of its chunks leave first from now on.
    pub fn set_policy(&self, policy: Policy) {
        let mut slots = self.inner.slots.lock();
        let Slots { by_coord, order } = &mut *slots;
        *order = policy.order();
        by_coord.keys().for_each(|coord| order.enter(coord));
    }

    /// Waits for the range lock of a request: for those that came before, overlap it, and of which one writes.
    pub fn enter(&self, area: LockRange, writes: bool) -> RangeGuard<'_> {
        self.inner.range_lock.enter(area, writes, &self.inner.counters)
    }

    /// The range lock of a request, if it need not wait. For work in the background.
    pub fn try_enter(&self, area: LockRange, writes: bool) -> Option<RangeGuard<'_>> {
        self.inner.range_lock.try_enter(area, writes)
    }

    /// As [`Cache::reserve`](crate::Cache::reserve), for a request of this dataset alone, of which the wait is counted.
    pub fn reserve(&self, demand: Demand) -> Reservation<'_> {
        self.inner.shared.budget.reserve(demand, &self.inner.counters)
    }

    /// A chunk that is in memory now.
    pub fn peek(&self, coord: &Coords) -> Option<Pinned<V>> {
        let mut pins = PendingPins::new(&self.inner, 1);
        let slot = self.inner.slots.lock().by_coord.get(coord)?.clone();
        let value = slot.value()?;
        Some(Pinned { slot, value, partition: pins.next() })
    }

    /// A chunk that is in memory now, or will be when another thread has loaded it, or could not store what replaces it. The caller must have no chunk in hand
    /// that such a thread may wait for.
    pub fn settled(&self, coord: &Coords) -> Option<Pinned<V>> {
        loop {
            if let Some(pinned) = self.peek(coord) {
                return Some(pinned);
            }
            let slot = self.inner.slots.lock().by_coord.get(coord)?.clone();
            slot.wait_settled(&self.inner);
        }
    }

    /// Which chunks are in memory, or will be soon.
    pub fn has(&self, coords: &[Coords]) -> Vec<bool> {
        let slots = self.inner.slots.lock();
        coords.iter().map(|coord| slots.by_coord.contains_key(coord)).collect()
    }

    /// Whether no chunk is in memory.
    pub fn is_empty(&self) -> bool {
        self.inner.slots.lock().by_coord.is_empty()
    }

    /// The coordinates of all chunks in memory.
    pub fn coords(&self) -> Vec<Coords> {
        self.inner.slots.lock().by_coord.keys().cloned().collect()
    }

    /// Whether it is the same partition.
    pub fn is(&self, other: &Partition<V>) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// What its chunks take, in bytes.
    pub fn bytes(&self) -> usize {
        self.inner.share.bytes()
    }

    /// So many chunks were read from the file.
    pub fn count_loads(&self, chunks: usize) {
        self.inner.counters.add(Counter::Loads, chunks as u64);
    }

    /// So many bytes of values went between file and caller, past the cache.
    pub fn count_bypass(&self, bytes: u64) {
        self.inner.counters.add(Counter::Bypasses, 1);
        self.inner.counters.add(Counter::BypassedBytes, bytes);
    }

    /// A thread waited so long for chunks to be decoded.
    pub fn decoded_for(&self, time: Duration) {
        self.inner.counters.add_time(Counter::Decoding, time);
    }

    /// A thread waited so long for chunks to be encoded.
    pub fn encoded_for(&self, time: Duration) {
        self.inner.counters.add_time(Counter::Encoding, time);
    }

    /// What the cache did for this dataset.
    pub fn statistics(&self) -> Statistics {
        let (bytes, peak_bytes) = (self.bytes(), self.inner.share.peak());
        let limit = self.inner.shared.budget.limits().quiescent.min(self.limit());
        Statistics { datasets: 1, bytes, peak_bytes, limit, ..self.inner.counters.totals().statistics() }
    }

    /// Counts anew for this dataset from now on. The sums of the file stay.
    pub fn reset_statistics(&self) {
        self.inner.leave_counters();
    }

    /// Forgets all chunks that no thread has: the dataset is no more. Never waits; the other chunks leave as usual.
    pub fn abandon(&self) {
        self.abandon_where(&|_| true);
    }

    /// As [`Partition::abandon`], only chunks at coordinates that go.
    pub fn abandon_where(&self, goes: &dyn Fn(&Coords) -> bool) {
        let mut slots = self.inner.slots.lock();
        let abandon = |slot: &Arc<Slot<V>>| {
            if !goes(&slot.coord) {
                return None;
            }
            Some(Gone::new(slot.abandon(&self.inner)?, slot.clone(), Hold::unreserved(self.inner.clone())))
        };
        let gone: Vec<_> = slots.by_coord.values().filter_map(abandon).collect();
        for gone in &gone {
            slots.by_coord.remove(gone.coord());
            slots.order.leave(gone.coord(), false);
        }
        drop(slots);
        drop(gone);
    }

    /// The caller gets all dirty chunks that no thread holds and that were used as a whole. It writes them now, and each chunk leaves when it is written.
    pub fn take_whole(&self) -> Vec<WriteBack<V>> {
        self.inner.unwritten().into_iter().filter_map(|slot| self.inner.take_whole(slot)).collect()
    }

    /// Lets all chunks leave that no thread has and that are in the file; how many are left.
    pub fn evict(&self) -> usize {
        let coords = self.coords();
        coords.iter().for_each(|coord| drop(self.inner.evict(coord)));
        self.inner.slots.lock().by_coord.len()
    }
}
