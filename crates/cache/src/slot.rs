//! A chunk in memory.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use hyperslab_space::Coords;

use crate::{
    Footprint,
    counters::{Counter, WaitsFor},
    life::{Event, Phase},
    partition_state::PartitionState as Partition,
    reservation::Grant,
    slot_state::{Dirty, Exit, SlotState},
    sync::{Condvar, Mutex, MutexGuard, Rank, RwLock},
    write_failure::{Unwritable, WriteFailure},
};

/// One chunk.
pub(crate) struct Slot<V: Footprint> {
    pub(crate) coord: Coords,
    state: Mutex<SlotState<V>>,
    /// Told when the load has ended, or a write, or when it is in service again.
    phase_changed: Condvar,
    /// Whether only parts of it were used since it came, or since it was spared.
    partly: AtomicBool,
    /// The stretch of time in which it was used last, for a cache that finds its own size.
    used: AtomicU64,
    /// How many requests write it past the cache. Changed under the lock of the partition's slots.
    bypasses: AtomicUsize,
}

impl<V: Footprint> Slot<V> {
    /// One that a thread loads.
    pub(crate) fn new(coord: Coords) -> Slot<V> {
        let (phase_changed, partly, used, bypasses) = Default::default();
        Slot { coord, state: Mutex::new(Rank::Phase, SlotState::loading()), phase_changed, partly, used, bypasses }
    }

    /// How many requests write it past the cache.
    pub(crate) fn bypasses(&self) -> usize {
        self.bypasses.load(Ordering::Relaxed)
    }

    /// One more request writes it past the cache.
    pub(crate) fn begin_bypass(&self) {
        self.bypasses.fetch_add(1, Ordering::Relaxed);
    }

    /// A request past the cache has ended; whether it was the last.
    pub(crate) fn end_bypass(&self) -> bool {
        self.bypasses.fetch_sub(1, Ordering::Relaxed) == 1
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state.lock().phase
    }

    /// Whether it was used partly since the last time that this was asked.
    pub(crate) fn spare(&self) -> bool {
        self.partly.swap(false, Ordering::Relaxed)
    }

    /// Whether only parts of it were used.
    pub(crate) fn is_partly(&self) -> bool {
        self.partly.load(Ordering::Relaxed)
    }

    /// Says that only a part of it is used.
    pub(crate) fn mark_used_in_part(&self) {
        self.partly.store(true, Ordering::Relaxed);
    }

    /// It is used.
    pub(crate) fn mark_used(&self, partition: &Partition<V>) {
        if let Some(tuning) = &partition.shared.tuning {
            tuning.used(&self.used, || self.counted());
        }
    }

    pub(crate) fn counted(&self) -> usize {
        self.state.lock().counted()
    }

    /// Changes it; partition and budget learn in the same step what it takes from then on.
    fn change<T>(&self, partition: &Partition<V>, change: impl FnOnce(&mut SlotState<V>) -> T) -> T {
        self.change_in(partition, None, change)
    }

    /// As [`Slot::change`]. What it takes more comes out of room that was granted for it.
    fn change_in<T>(
        &self,
        partition: &Partition<V>,
        grant: Option<&mut Grant<'_>>,
        change: impl FnOnce(&mut SlotState<V>) -> T,
    ) -> T {
        let mut state = self.state.lock();
        let (before, phase, unwritable) = (state.counted(), state.phase, state.unwritable());
        let changed = change(&mut state);
        match grant {
            Some(grant) => partition.adjust(grant, before, state.counted()),
            None => partition.resize(before, state.counted()),
        }
        partition.moved(&self.coord, phase, state.phase);
        partition.shared.budget.recount_unwritable(unwritable, state.unwritable());
        changed
    }

    /// Moves it on in its life; debug builds know whether that may be.
    pub(crate) fn happen(&self, event: Event, partition: &Partition<V>) {
        self.change(partition, |state| {
            let before = state.phase;
            let legal = state.happen(event);
            debug_assert!(legal, "a chunk that is {before:?} cannot {event:?}");
        });
        self.phase_changed.notify_all();
    }

    /// Its value is there, in memory that was granted; the result is pinned.
    pub(crate) fn fill(
        &self,
        value: V,
        dirty: bool,
        grant: &mut Grant<'_>,
        partition: &Partition<V>,
    ) -> Arc<RwLock<V>> {
        let size = value.footprint();
        let value = Arc::new(RwLock::new(Rank::Value, value));
        let mut state = self.state.lock();
        let phase = state.phase;
        partition.adjust(grant, state.counted(), size);
        state.size = size;
        state.value = Some(value.clone());
        let legal = state.happen(Event::Loaded) && (!dirty || state.happen(Event::Change));
        debug_assert!(legal, "filled twice");
        partition.moved(&self.coord, phase, state.phase);
        drop(state);
        self.phase_changed.notify_all();
        self.mark_used(partition);
        value
    }

    /// Waits until its load has ended, or until it is in service again; nothing if it is gone then.
    pub(crate) fn wait(&self, partition: &Partition<V>) -> Option<Arc<RwLock<V>>> {
        self.wait_while(partition, Phase::is_out_of_service).value.clone()
    }

    /// Its value if it is there now.
    pub(crate) fn value(&self) -> Option<Arc<RwLock<V>>> {
        self.state.lock().value_in_service()
    }

    /// Waits as long as it is in some phases. The wait is counted.
    fn wait_while(&self, partition: &Partition<V>, is_so: impl Fn(Phase) -> bool) -> MutexGuard<'_, SlotState<V>> {
        let mut state = self.state.lock();
        let _wait = is_so(state.phase).then(|| partition.counters.wait(WaitsFor::Chunk));
        while is_so(state.phase) {
            self.phase_changed.wait(&mut state);
        }
        state
    }

    /// Whether it could leave now, written or not. One that could not be written cannot.
    pub(crate) fn is_free(&self) -> bool {
        let state = self.state.lock();
        state.is_free() && state.failure.is_none()
    }

    /// It could not be written. Eviction passes it by until it is changed, or until [`Slot::retry`] if that may help.
    pub(crate) fn fail(&self, failure: WriteFailure, partition: &Partition<V>) {
        self.change(partition, |state| {
            if matches!(state.phase, Phase::Writing | Phase::Stale) {
                let was_changed = state.phase == Phase::Stale;
                state.happen(Event::Failed);
                state.failure = Some(failure).filter(|_| !was_changed);
            } else if state.phase == Phase::Dirty {
                state.failure = Some(failure);
            }
        });
        self.phase_changed.notify_all();
    }

    /// Lets eviction try again to write it, if the last failure may have passed.
    pub(crate) fn retry(&self, partition: &Partition<V>) {
        self.change(partition, |state| {
            state.failure = state.failure.filter(|failure| *failure == WriteFailure::Permanent)
        });
    }

    /// What it adds to the account of chunks that cannot be written.
    pub(crate) fn unwritable(&self) -> Unwritable {
        self.state.lock().unwritable()
    }

    /// Lets it leave, or takes it to be written first.
    pub(crate) fn exit(&self, partition: &Partition<V>) -> Exit<V> {
        self.change(partition, |state| {
            if state.is_in_use() || state.failure.is_some() {
                return Exit::Busy;
            }
            state.leave().map(Exit::Gone).or_else(|| state.take().map(Exit::Dirty)).unwrap_or(Exit::Busy)
        })
    }

    /// Takes it to be written, if it must be.
    pub(crate) fn take(&self, partition: &Partition<V>) -> Option<Dirty<V>> {
        self.change(partition, SlotState::take)
    }

    /// Lets it leave unwritten, if no thread has it.
    pub(crate) fn abandon(&self, partition: &Partition<V>) -> Option<Arc<RwLock<V>>> {
        self.change(
            partition,
            |state| {
                if state.is_free() && state.happen(Event::Leave) { state.value.take() } else { None }
            },
        )
    }

    /// Lets it leave, if it is out of service because something replaces it. Threads that wait look again.
    pub(crate) fn leave_withdrawn(&self, partition: &Partition<V>) -> Option<Arc<RwLock<V>>> {
        let value = self.change(partition, |state| {
            if state.phase == Phase::Withdrawn && state.happen(Event::Leave) { state.value.take() } else { None }
        });
        self.phase_changed.notify_all();
        value
    }

    /// Lets it leave, if it is in the file and no thread has it.
    pub(crate) fn leave(&self, partition: &Partition<V>) -> Option<Arc<RwLock<V>>> {
        self.change(partition, |state| if state.is_in_use() { None } else { state.leave() })
    }

    /// Its value and what it takes, if no thread has it and it is dirty, and not encoded yet.
    pub(crate) fn waits_for_coding(&self) -> Option<(Arc<RwLock<V>>, usize)> {
        let state = self.state.lock();
        let is_it = state.phase == Phase::Dirty && state.failure.is_none() && !state.is_in_use();
        state.value.clone().filter(|_| is_it).map(|value| (value, state.size))
    }

    /// Waits while another thread writes it to the file, or stores what replaces it.
    pub(crate) fn wait_written(&self, partition: &Partition<V>) {
        drop(self.wait_while(partition, Phase::is_in_hand));
    }

    /// Waits while another thread loads it, writes it or stores what replaces it.
    pub(crate) fn wait_settled(&self, partition: &Partition<V>) {
        drop(self.wait_while(partition, |phase| phase.is_out_of_service() || phase.is_in_hand()));
    }

    /// Takes it out of service, if it is not in the file and no thread has it; whether it was.
    pub(crate) fn withdraw(&self, partition: &Partition<V>) -> bool {
        self.change(partition, |state| state.is_free() && state.phase != Phase::Clean && state.happen(Event::Withdraw))
    }

    /// Keeps what was encoded ahead of time, in room that was granted; whether it may.
    pub(crate) fn keep(&self, encoded: V::Encoded, grant: &mut Grant<'_>, partition: &Partition<V>) -> bool {
        let mut state = self.state.lock();
        if state.phase != Phase::Dirty || state.failure.is_some() {
            return false;
        }
        let before = state.counted();
        state.copy = V::encoded_footprint(&encoded);
        partition.adjust(grant, before, state.counted());
        state.encoded = Some(Arc::new(encoded));
        let kept = state.happen(Event::Encode);
        partition.moved(&self.coord, Phase::Dirty, state.phase);
        partition.counters.add(Counter::EncodedAhead, 1);
        kept
    }

    /// Drops what was encoded ahead of time; whether there was something.
    pub(crate) fn drop_encoded(&self, partition: &Partition<V>) -> bool {
        self.change(partition, |state| state.encoded.is_some() && state.happen(Event::Change))
    }

    /// Its value takes so much now; what it takes more comes out of a grant, if there is one.
    pub(crate) fn recount(&self, footprint: usize, grant: Option<&mut Grant<'_>>, partition: &Partition<V>) {
        self.change_in(partition, grant, |state| state.size = footprint);
    }

    /// Its value, if it is as in the file and no thread holds it.
    pub(crate) fn clean_value(&self) -> Option<Arc<RwLock<V>>> {
        let state = self.state.lock();
        if state.phase != Phase::Clean || state.is_in_use() {
            return None;
        }
        state.value.clone()
    }

    /// Whether its value is as in the file, and the caller's pin is the only one.
    pub(crate) fn has_one_pin(&self) -> bool {
        let state = self.state.lock();
        state.phase == Phase::Clean && state.value.as_ref().is_some_and(|value| Arc::strong_count(value) == 2)
    }

    /// Its value is freed.
    pub(crate) fn release(&self, partition: &Partition<V>) {
        self.change(partition, |state| (state.size, state.copy) = (0, 0));
    }
}
