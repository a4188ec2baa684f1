//! The chunks of one dataset, for those who use them.

use std::sync::{Arc, atomic::Ordering};

use hyperslab_space::Coords;

use crate::{
    Area, Footprint, Pinned, Policy, Taken, Turn,
    books::Books,
    inner::{Inner, Slots},
    pinned::{Gone, Hold, Visitors},
    slot::Slot,
};

/// The chunks of one dataset. Cheap to clone.
pub struct Shelf<V: Footprint> {
    pub(crate) inner: Arc<Inner<V>>,
}

impl<V: Footprint> Clone for Shelf<V> {
    fn clone(&self) -> Shelf<V> {
        Shelf { inner: self.inner.clone() }
    }
}

impl<V: Footprint> Shelf<V> {
    pub(crate) fn new(home: Arc<V::Home>, number: u64, reserve: usize, policy: Policy, books: Arc<Books>) -> Shelf<V> {
        Shelf { inner: Inner::new(home, number, reserve, policy, books) }
    }

    /// Its number. Whoever enters several shelves does so in the order of their numbers.
    pub fn number(&self) -> u64 {
        self.inner.number
    }

    /// What it is of.
    pub fn home(&self) -> &Arc<V::Home> {
        &self.inner.home
    }

    /// What it keeps from now on while others have more, in bytes.
    pub fn set_reserve(&self, bytes: usize) {
        self.inner.reserve.store(bytes, Ordering::Relaxed);
    }

    /// Which of its chunks leave first from now on.
    pub fn set_policy(&self, policy: Policy) {
        let mut slots = self.inner.slots.lock();
        let Slots { by_place, order } = &mut *slots;
        *order = policy.order();
        by_place.keys().for_each(|place| order.enter(place));
    }

    /// Waits for the turn of a request: for those that came before, overlap it, and of which one writes.
    pub fn enter(&self, area: Area, writes: bool) -> Turn<'_> {
        self.inner.turns.enter(area, writes)
    }

    /// The turn of a request, if it need not wait. For work in the background.
    pub fn try_enter(&self, area: Area, writes: bool) -> Option<Turn<'_>> {
        self.inner.turns.try_enter(area, writes)
    }

    /// A chunk that is in memory now.
    pub fn peek(&self, place: &Coords) -> Option<Pinned<V>> {
        let mut visitors = Visitors::new(&self.inner, 1);
        let slot = self.inner.slots.lock().by_place.get(place)?.clone();
        let value = slot.value()?;
        Some(Pinned { slot, value, shelf: visitors.next() })
    }

    /// Which chunks are in memory, or will be soon.
    pub fn has(&self, places: &[Coords]) -> Vec<bool> {
        let slots = self.inner.slots.lock();
        places.iter().map(|place| slots.by_place.contains_key(place)).collect()
    }

    /// Whether no chunk is in memory.
    pub fn is_empty(&self) -> bool {
        self.inner.slots.lock().by_place.is_empty()
    }

    /// The places of all chunks in memory.
    pub fn places(&self) -> Vec<Coords> {
        self.inner.slots.lock().by_place.keys().cloned().collect()
    }

    /// Whether it is the same shelf.
    pub fn is(&self, other: &Shelf<V>) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// What its chunks take, in bytes.
    pub fn bytes(&self) -> usize {
        self.inner.bytes.load(Ordering::Relaxed)
    }

    /// Forgets all chunks that nobody has: the dataset is no more. Waits for nobody; the others leave as usual.
    pub fn abandon(&self) {
        self.abandon_where(&|_| true);
    }

    /// As [`Shelf::abandon`], only chunks at places that go.
    pub fn abandon_where(&self, goes: &dyn Fn(&Coords) -> bool) {
        let mut slots = self.inner.slots.lock();
        let abandon = |slot: &Arc<Slot<V>>| {
            if !goes(&slot.place) {
                return None;
            }
            Some(Gone::new(slot.abandon(&self.inner)?, slot.clone(), Hold::visitor(self.inner.clone())))
        };
        let gone: Vec<_> = slots.by_place.values().filter_map(abandon).collect();
        for gone in &gone {
            slots.by_place.remove(gone.place());
            slots.order.leave(gone.place(), false);
        }
        drop(slots);
        drop(gone);
    }

    /// The caller gets all dirty chunks that no thread holds and that were used as a whole. It writes them now, and each chunk leaves when it is written.
    pub fn take_whole(&self) -> Vec<Taken<V>> {
        self.inner.unwritten().into_iter().filter_map(|slot| self.inner.take_whole(slot)).collect()
    }

    /// Lets all chunks leave that nobody has and that are in the file; how many are left.
    pub fn evict(&self) -> usize {
        let places = self.places();
        places.iter().for_each(|place| drop(self.inner.evict(place)));
        self.inner.slots.lock().by_place.len()
    }
}
