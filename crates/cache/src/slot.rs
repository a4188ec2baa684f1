//! A chunk in memory.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use hyperslab_space::Coords;

use crate::{
    Footprint,
    inner::Inner as Shelf,
    life::{Event, Phase},
    promise::Claim,
    statistics::count,
    sync::{Condvar, Mutex, Rank, RwLock},
    write_failure::{Unwritable, WriteFailure},
};

/// One chunk.
pub(crate) struct Slot<V: Footprint> {
    pub(crate) place: Coords,
    state: Mutex<State<V>>,
    /// Told when somebody has loaded it, or has given up.
    settled: Condvar,
    /// Whether only parts of it were used since it came, or since it was spared.
    partly: AtomicBool,
    /// The stretch of time in which it was used last, for a cache that finds its own size.
    used: AtomicU64,
}

struct State<V: Footprint> {
    phase: Phase,
    /// Not there before it is loaded. Whoever has it in hand shares it.
    value: Option<Arc<RwLock<V>>>,
    /// Only in the phase of that name.
    encoded: Option<Arc<V::Encoded>>,
    /// What shelf and budget count for it: the value until it is freed, and the encoded copy, here or in the hands of whoever writes it.
    size: usize,
    copy: usize,
    /// Why the last attempt to write it failed, until something else happens to it. Eviction passes it by meanwhile.
    failure: Option<WriteFailure>,
}

impl<V: Footprint> State<V> {
    /// Moves on; whether that may be.
    fn happen(&mut self, event: Event) -> bool {
        let next = self.phase.after(event);
        self.failure = None;
        self.phase = next.unwrap_or(self.phase);
        let is_dropped = self.phase != Phase::Encoded && self.encoded.take().is_some();
        // What leaves counts until it is freed.
        if is_dropped && event == Event::Change || matches!(event, Event::Written | Event::Failed) {
            self.copy = 0;
        }
        next.is_some()
    }

    fn counted(&self) -> usize {
        self.size + self.copy
    }

    /// What it adds to the account of chunks that cannot be written.
    fn unwritable(&self) -> Unwritable {
        Unwritable::new(self.failure, self.counted())
    }

    /// Whether eviction may take it now, written or not.
    fn is_free(&self) -> bool {
        let may_leave = matches!(self.phase, Phase::Clean | Phase::Dirty | Phase::Encoded);
        may_leave && !self.is_in_use()
    }

    /// Leaves, if it is in the file.
    fn leave(&mut self) -> Option<Arc<RwLock<V>>> {
        if self.phase == Phase::Clean && self.happen(Event::Leave) { self.value.take() } else { None }
    }

    /// Is to be written, if it must be.
    fn take(&mut self) -> Option<Dirty<V>> {
        let value = self.value.clone().filter(|_| matches!(self.phase, Phase::Dirty | Phase::Encoded))?;
        let encoded = self.encoded.take();
        self.happen(Event::Take);
        Some((value, encoded))
    }

    fn is_in_use(&self) -> bool {
        self.value.as_ref().is_some_and(|value| Arc::strong_count(value) > 1)
    }
}

/// A value that must be written, and its encoded form if there is one.
pub(crate) type Dirty<V> = (Arc<RwLock<V>>, Option<Arc<<V as Footprint>::Encoded>>);

/// What may become of a chunk when there is no room.
pub(crate) enum Exit<V: Footprint> {
    /// It is gone; what is left of it.
    Gone(Arc<RwLock<V>>),
    /// It must be written first.
    Dirty(Dirty<V>),
    /// Somebody has it, or writes it.
    Busy,
}

impl<V: Footprint> Slot<V> {
    /// One that somebody loads.
    pub(crate) fn new(place: Coords) -> Slot<V> {
        let state = State { phase: Phase::Loading, value: None, encoded: None, size: 0, copy: 0, failure: None };
        let (settled, partly, used) = Default::default();
        Slot { place, state: Mutex::new(Rank::Phase, state), settled, partly, used }
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
    pub(crate) fn is_used_partly(&self) {
        self.partly.store(true, Ordering::Relaxed);
    }

    /// It is used.
    pub(crate) fn is_used(&self, shelf: &Shelf<V>) {
        if let Some(tuning) = &shelf.books.tuning {
            tuning.used(&self.used, || self.counted());
        }
    }

    pub(crate) fn counted(&self) -> usize {
        self.state.lock().counted()
    }

    /// Changes it; shelf and budget learn in the same step what it takes from then on.
    fn change<T>(&self, shelf: &Shelf<V>, change: impl FnOnce(&mut State<V>) -> T) -> T {
        self.change_in(shelf, None, change)
    }

    /// As [`Slot::change`]. What it takes more comes out of room that was claimed for it.
    fn change_in<T>(
        &self,
        shelf: &Shelf<V>,
        claim: Option<&mut Claim<'_>>,
        change: impl FnOnce(&mut State<V>) -> T,
    ) -> T {
        let mut state = self.state.lock();
        let (before, phase, unwritable) = (state.counted(), state.phase, state.unwritable());
        let changed = change(&mut state);
        match claim {
            Some(claim) => shelf.settle(claim, before, state.counted()),
            None => shelf.resize(before, state.counted()),
        }
        shelf.moved(&self.place, phase, state.phase);
        shelf.books.budget.recount_unwritable(unwritable, state.unwritable());
        changed
    }

    /// Moves it on in its life; debug builds know whether that may be.
    pub(crate) fn happen(&self, event: Event, shelf: &Shelf<V>) {
        self.change(shelf, |state| {
            let before = state.phase;
            let legal = state.happen(event);
            debug_assert!(legal, "a chunk that is {before:?} cannot {event:?}");
        });
        self.settled.notify_all();
    }

    /// Its value is there, in room that was claimed; whoever asks has it in hand.
    pub(crate) fn fill(&self, value: V, dirty: bool, claim: &mut Claim<'_>, shelf: &Shelf<V>) -> Arc<RwLock<V>> {
        let size = value.footprint();
        let value = Arc::new(RwLock::new(Rank::Value, value));
        let mut state = self.state.lock();
        let phase = state.phase;
        shelf.settle(claim, state.counted(), size);
        state.size = size;
        state.value = Some(value.clone());
        let legal = state.happen(Event::Loaded) && (!dirty || state.happen(Event::Change));
        debug_assert!(legal, "filled twice");
        shelf.moved(&self.place, phase, state.phase);
        drop(state);
        self.settled.notify_all();
        self.is_used(shelf);
        value
    }

    /// Waits until nobody loads it any more; nothing if it is gone then.
    pub(crate) fn wait(&self) -> Option<Arc<RwLock<V>>> {
        let mut state = self.state.lock();
        while state.phase == Phase::Loading {
            self.settled.wait(&mut state);
        }
        state.value.clone()
    }

    /// Its value if it is there now.
    pub(crate) fn value(&self) -> Option<Arc<RwLock<V>>> {
        self.state.lock().value.clone()
    }

    /// Whether it could leave now, written or not. One that could not be written cannot.
    pub(crate) fn is_free(&self) -> bool {
        let state = self.state.lock();
        state.is_free() && state.failure.is_none()
    }

    /// It could not be written. Eviction passes it by until it is changed, or until [`Slot::retry`] if that may help.
    pub(crate) fn fail(&self, failure: WriteFailure, shelf: &Shelf<V>) {
        self.change(shelf, |state| {
            if matches!(state.phase, Phase::Writing | Phase::Stale) {
                let was_changed = state.phase == Phase::Stale;
                state.happen(Event::Failed);
                state.failure = Some(failure).filter(|_| !was_changed);
            } else if state.phase == Phase::Dirty {
                state.failure = Some(failure);
            }
        });
        self.settled.notify_all();
    }

    /// Lets eviction try again to write it, if the last failure may have passed.
    pub(crate) fn retry(&self, shelf: &Shelf<V>) {
        self.change(shelf, |state| state.failure = state.failure.filter(|failure| *failure == WriteFailure::Permanent));
    }

    /// What it adds to the account of chunks that cannot be written.
    pub(crate) fn unwritable(&self) -> Unwritable {
        self.state.lock().unwritable()
    }

    /// Lets it leave, or takes it to be written first.
    pub(crate) fn exit(&self, shelf: &Shelf<V>) -> Exit<V> {
        self.change(shelf, |state| {
            if state.is_in_use() || state.failure.is_some() {
                return Exit::Busy;
            }
            state.leave().map(Exit::Gone).or_else(|| state.take().map(Exit::Dirty)).unwrap_or(Exit::Busy)
        })
    }

    /// Takes it to be written, if it must be.
    pub(crate) fn take(&self, shelf: &Shelf<V>) -> Option<Dirty<V>> {
        self.change(shelf, State::take)
    }

    /// Lets it leave unwritten, if nobody has it.
    pub(crate) fn abandon(&self, shelf: &Shelf<V>) -> Option<Arc<RwLock<V>>> {
        self.change(
            shelf,
            |state| {
                if state.is_free() && state.happen(Event::Leave) { state.value.take() } else { None }
            },
        )
    }

    /// Lets it leave, if it is in the file and nobody has it.
    pub(crate) fn leave(&self, shelf: &Shelf<V>) -> Option<Arc<RwLock<V>>> {
        self.change(shelf, |state| if state.is_in_use() { None } else { state.leave() })
    }

    /// Its value and what it takes, if nobody has it and it is dirty, and not encoded yet.
    pub(crate) fn waits_for_coding(&self) -> Option<(Arc<RwLock<V>>, usize)> {
        let state = self.state.lock();
        let is_it = state.phase == Phase::Dirty && state.failure.is_none() && !state.is_in_use();
        state.value.clone().filter(|_| is_it).map(|value| (value, state.size))
    }

    /// Waits while another thread writes it to the file.
    pub(crate) fn wait_written(&self) {
        let mut state = self.state.lock();
        while matches!(state.phase, Phase::Writing | Phase::Stale) {
            self.settled.wait(&mut state);
        }
    }

    /// Keeps what was encoded ahead of time, in room that was claimed; whether it may.
    pub(crate) fn keep(&self, encoded: V::Encoded, claim: &mut Claim<'_>, shelf: &Shelf<V>) -> bool {
        let mut state = self.state.lock();
        if state.phase != Phase::Dirty || state.failure.is_some() {
            return false;
        }
        let before = state.counted();
        state.copy = V::encoded_footprint(&encoded);
        shelf.settle(claim, before, state.counted());
        state.encoded = Some(Arc::new(encoded));
        let kept = state.happen(Event::Encode);
        shelf.moved(&self.place, Phase::Dirty, state.phase);
        count(&shelf.books.counters.encoded_ahead, 1);
        kept
    }

    /// Drops what was encoded ahead of time; whether there was something.
    pub(crate) fn drop_encoded(&self, shelf: &Shelf<V>) -> bool {
        self.change(shelf, |state| state.encoded.is_some() && state.happen(Event::Change))
    }

    /// Its value takes so much now; what it takes more comes out of a claim, if there is one.
    pub(crate) fn recount(&self, footprint: usize, claim: Option<&mut Claim<'_>>, shelf: &Shelf<V>) {
        self.change_in(shelf, claim, |state| state.size = footprint);
    }

    /// Its value, if it is as in the file and no thread holds it.
    pub(crate) fn clean_value(&self) -> Option<Arc<RwLock<V>>> {
        let state = self.state.lock();
        if state.phase != Phase::Clean || state.is_in_use() {
            return None;
        }
        state.value.clone()
    }

    /// Its value is freed.
    pub(crate) fn is_freed(&self, shelf: &Shelf<V>) {
        self.change(shelf, |state| (state.size, state.copy) = (0, 0));
    }
}
