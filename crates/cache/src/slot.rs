//! A chunk in memory, and those who have it in hand.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use hyperslab_space::Coords;

use crate::{
    life::{Event, Phase},
    shelf::Inner as Shelf,
    sync::{Condvar, Mutex, Rank, Reading, RwLock, WriteGuard},
};

/// A value that knows its size.
pub trait Footprint: Send + Sync {
    /// What a shelf is of: who loads and writes its chunks.
    type Home: ?Sized + Send + Sync;

    /// About how much memory it takes, in bytes; what the budget counts.
    fn footprint(&self) -> usize;
}

/// A chunk as the file will have it.
#[derive(Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the layout wants to know of them later.
    pub note: u64,
}

/// One chunk.
pub(crate) struct Slot<V> {
    pub(crate) place: Coords,
    state: Mutex<State<V>>,
    /// Told when somebody has loaded it, or has given up.
    settled: Condvar,
    /// Whether only parts of it were used since it came, or since it was spared.
    partly: AtomicBool,
    /// What shelf and budget count for it.
    counted: AtomicUsize,
}

struct State<V> {
    phase: Phase,
    /// Not there before it is loaded. Whoever has it in hand shares it.
    value: Option<Arc<RwLock<V>>>,
    /// Only in the phase of that name.
    encoded: Option<Arc<Encoded>>,
}

impl<V> State<V> {
    /// Moves on; whether that may be.
    fn happen(&mut self, event: Event) -> bool {
        let next = self.phase.after(event);
        self.phase = next.unwrap_or(self.phase);
        if self.phase != Phase::Encoded {
            self.encoded = None;
        }
        next.is_some()
    }

    fn is_in_use(&self) -> bool {
        self.value.as_ref().is_some_and(|value| Arc::strong_count(value) > 1)
    }
}

/// A value that must be written, and its encoded form if there is one.
pub(crate) type Dirty<V> = (Arc<RwLock<V>>, Option<Arc<Encoded>>);

/// What may become of a chunk when there is no room.
pub(crate) enum Exit<V> {
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
        let state = State { phase: Phase::Loading, value: None, encoded: None };
        let (partly, counted) = (AtomicBool::new(false), AtomicUsize::new(0));
        Slot { place, state: Mutex::new(Rank::Phase, state), settled: Condvar::default(), partly, counted }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state.lock().phase
    }

    /// Whether it was used partly since the last time that this was asked.
    pub(crate) fn spare(&self) -> bool {
        self.partly.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn counted(&self) -> usize {
        self.counted.load(Ordering::Relaxed)
    }

    /// Moves it on in its life; debug builds know whether that may be.
    pub(crate) fn happen(&self, event: Event) {
        let mut state = self.state.lock();
        let before = state.phase;
        let legal = state.happen(event);
        debug_assert!(legal, "a chunk that is {before:?} cannot {event:?}");
        self.settled.notify_all();
    }

    /// Its value is there; whoever asks has it in hand.
    pub(crate) fn fill(&self, value: V) -> Arc<RwLock<V>> {
        let value = Arc::new(RwLock::new(Rank::Value, value));
        let mut state = self.state.lock();
        state.value = Some(value.clone());
        let legal = state.happen(Event::Loaded);
        debug_assert!(legal, "filled twice");
        self.settled.notify_all();
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

    /// Whether it could leave now, written or not.
    pub(crate) fn is_free(&self) -> bool {
        let state = self.state.lock();
        !state.is_in_use() && matches!(state.phase, Phase::Clean | Phase::Dirty | Phase::Encoded)
    }

    /// Lets it leave, or takes it to be written first.
    pub(crate) fn exit(&self) -> Exit<V> {
        let mut state = self.state.lock();
        if state.is_in_use() {
            return Exit::Busy;
        }
        match (state.phase, state.value.clone()) {
            (Phase::Clean, Some(value)) => {
                state.value = None;
                state.happen(Event::Leave);
                Exit::Gone(value)
            }
            (Phase::Dirty | Phase::Encoded, Some(value)) => {
                let encoded = state.encoded.take();
                state.happen(Event::Take);
                Exit::Dirty((value, encoded))
            }
            _ => Exit::Busy,
        }
    }

    /// Takes it to be written, if it must be.
    pub(crate) fn take(&self) -> Option<Dirty<V>> {
        let mut state = self.state.lock();
        let value = state.value.clone().filter(|_| matches!(state.phase, Phase::Dirty | Phase::Encoded))?;
        let encoded = state.encoded.take();
        state.happen(Event::Take);
        Some((value, encoded))
    }

    /// Lets it leave unwritten, if nobody has it.
    pub(crate) fn abandon(&self) -> Option<Arc<RwLock<V>>> {
        let mut state = self.state.lock();
        let is_free = !state.is_in_use() && matches!(state.phase, Phase::Clean | Phase::Dirty | Phase::Encoded);
        if !is_free {
            return None;
        }
        state.happen(Event::Leave);
        state.value.take()
    }

    /// Lets it leave, if it is in the file and nobody has it.
    pub(crate) fn leave(&self) -> Option<Arc<RwLock<V>>> {
        let mut state = self.state.lock();
        if state.is_in_use() || state.phase != Phase::Clean {
            return None;
        }
        state.happen(Event::Leave);
        state.value.take()
    }

    /// Waits while somebody writes it to the file; whether somebody did.
    pub(crate) fn wait_written(&self) -> bool {
        let (mut state, mut waited) = (self.state.lock(), false);
        while matches!(state.phase, Phase::Writing | Phase::Stale) {
            waited = true;
            self.settled.wait(&mut state);
        }
        waited
    }

    /// Drops what was encoded ahead of time; whether there was something.
    pub(crate) fn drop_encoded(&self, shelf: &Shelf<V>) -> bool {
        let mut state = self.state.lock();
        let Some(encoded) = state.encoded.take() else { return false };
        state.happen(Event::Change);
        drop(state);
        self.count_as(self.counted().saturating_sub(encoded.bytes.capacity()), shelf);
        true
    }

    /// Brings what shelf and budget count up to date.
    pub(crate) fn recount(&self, footprint: usize, shelf: &Shelf<V>) {
        let now = footprint + self.state.lock().encoded.as_ref().map_or(0, |encoded| encoded.bytes.capacity());
        self.count_as(now, shelf);
    }

    pub(crate) fn count_as(&self, now: usize, shelf: &Shelf<V>) {
        let before = self.counted.swap(now, Ordering::Relaxed);
        if before != now {
            shelf.resize(before, now);
        }
    }
}

/// A chunk in somebody's hands: it stays in memory until this is dropped.
pub struct Pinned<V: Footprint> {
    pub(crate) slot: Arc<Slot<V>>,
    pub(crate) shelf: Arc<Shelf<V>>,
    pub(crate) value: Arc<RwLock<V>>,
}

impl<V: Footprint> Pinned<V> {
    /// Its place in the grid.
    pub fn place(&self) -> &Coords {
        &self.slot.place
    }

    /// The value, to read; any number of readers share it.
    pub fn read(&self) -> Reading<'_, V> {
        self.value.read()
    }

    /// The value, to write, alone. It is dirty from then on, and what was encoded ahead of time is dropped.
    pub fn write(&self) -> Writing<'_, V> {
        let value = self.value.write();
        self.slot.happen(Event::Change);
        Writing { pinned: self, value }
    }

    /// Says that only a part of it is used.
    pub fn is_used_partly(&self) {
        self.slot.partly.store(true, Ordering::Relaxed);
    }

    /// Encodes a dirty value ahead of time; nothing happens if it is not dirty.
    pub fn encode_ahead<E>(&self, encode: impl FnOnce(&V) -> Result<Encoded, E>) -> Result<(), E> {
        // Nobody can change it before it is kept.
        let value = self.value.read();
        if self.slot.phase() != Phase::Dirty {
            return Ok(());
        }
        let encoded = encode(&value)?;
        // It is worth no other chunk.
        let Some(claim) = self.shelf.books.budget.try_claim(encoded.bytes.capacity()) else { return Ok(()) };
        let mut state = self.slot.state.lock();
        if state.phase == Phase::Dirty && state.happen(Event::Encode) {
            state.encoded = Some(Arc::new(encoded));
        }
        drop(state);
        drop(claim);
        self.slot.recount(value.footprint(), &self.shelf);
        Ok(())
    }
}

/// A value to write.
pub struct Writing<'a, V: Footprint> {
    pinned: &'a Pinned<V>,
    value: WriteGuard<'a, V>,
}

impl<V: Footprint> Deref for Writing<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V: Footprint> DerefMut for Writing<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: Footprint> Drop for Writing<'_, V> {
    fn drop(&mut self) {
        self.pinned.slot.recount(self.value.footprint(), &self.pinned.shelf);
    }
}
