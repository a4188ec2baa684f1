//! Chunks in somebody's hands.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use hyperslab_space::Coords;

use crate::{
    Claim, Footprint, Need, Taken, WriteFailure,
    inner::Inner,
    life::{Event, Phase},
    slot::Slot,
    sync::{Reading, RwLock, WriteGuard, assert_values_rise},
};

/// Chunks are expected to be encoded to no less than such a part of them.
const PLAUSIBLE: usize = 8;

/// A chunk in somebody's hands: it stays in memory until this is dropped.
pub struct Pinned<V: Footprint> {
    pub(crate) slot: Arc<Slot<V>>,
    pub(crate) value: Arc<RwLock<V>>,
    /// After the value: a visit ends when it is no longer in hand.
    pub(crate) shelf: Hold<V>,
}

impl<V: Footprint> Pinned<V> {
    /// Its place in the grid.
    pub fn place(&self) -> &Coords {
        &self.slot.place
    }

    /// What its shelf is of.
    pub fn home(&self) -> &Arc<V::Home> {
        &self.shelf.home
    }

    /// The value, to read; any number of readers share it. A thread that reads several at once locks them by rising shelf and place.
    pub fn read(&self) -> Reading<'_, V> {
        assert_values_rise(Arc::as_ptr(&self.shelf.books) as usize, self.shelf.number, self.place());
        self.value.read()
    }

    /// The value, to write, alone. It is dirty from then on, and what was encoded ahead of time is dropped.
    pub fn write(&self) -> Writing<'_, V> {
        self.writing(true, None)
    }

    /// As [`Pinned::write`], for a value that grows: what it takes more comes out of what was claimed for it.
    pub fn write_in<'a>(&'a self, claim: Claim<'a>) -> Writing<'a, V> {
        self.writing(true, Some(claim))
    }

    /// The value, alone, to load what is missing of it. What it stands for stays as it is, so it does not become dirty. A thread that waits here may
    /// find that another one has loaded it.
    pub fn complete_in<'a>(&'a self, claim: Claim<'a>) -> Writing<'a, V> {
        self.writing(false, Some(claim))
    }

    fn writing<'a>(&'a self, changes: bool, claim: Option<Claim<'a>>) -> Writing<'a, V> {
        let value = self.value.write();
        if changes {
            self.slot.happen(Event::Change, &self.shelf);
        }
        let before = value.footprint();
        Writing { pinned: self, value, before, claim }
    }

    /// Takes part of a value that is as in the file. The result says whether there was something to take.
    pub(crate) fn shed(&self) -> bool {
        // A thread that reads it keeps all of it.
        let Some(mut value) = self.value.try_write().filter(|_| self.slot.phase() == Phase::Clean) else {
            return false;
        };
        let before = value.footprint();
        value.shed();
        let now = value.footprint();
        if now != before {
            self.slot.recount(now, None, &self.shelf);
        }
        now < before
    }

    /// Says that only a part of it is used.
    pub fn is_used_partly(&self) {
        self.slot.is_used_partly();
    }

    /// Takes it to be written, if it must be: where there is no room for an encoded copy, a chunk that is in the file can leave as fast.
    pub fn take(self) -> Option<Taken<V>> {
        let (_, encoded) = self.slot.take(&self.shelf)?;
        Some(Taken::new(self.into_visitor(), encoded, false))
    }

    /// Whoever writes a chunk may have it longer than its promise.
    fn into_visitor(self) -> Pinned<V> {
        let shelf = Hold::visitor(self.shelf.shelf().clone());
        Pinned { slot: self.slot, value: self.value, shelf }
    }

    /// Encodes a dirty value ahead of time, if no thread changes it and there is room for the copy; whether there is one now. This call never waits. A value
    /// that can never be encoded stays dirty, and eviction passes it by: the next flush tells why.
    pub fn encode_ahead(
        &self,
        encode: impl FnOnce(&V) -> Result<V::Encoded, WriteFailure>,
    ) -> Result<bool, WriteFailure> {
        // Nobody can change it before it is kept.
        let Some(value) = self.value.try_read() else { return Ok(false) };
        if self.slot.phase() != Phase::Dirty {
            return Ok(false);
        }
        // A copy is worth no other chunk. It is made beside the chunks, and kept if there is room for what it became; without any, it is not made.
        let (budget, size) = (&self.shelf.books.budget, value.footprint());
        let Some(_aside) = budget.try_promise(Need { chunks: 0, aside: size }) else { return Ok(false) };
        let Ok(mut claim) = budget.try_claim(size / PLAUSIBLE) else { return Ok(false) };
        let encoded = encode(&value).inspect_err(|failure| {
            // Under the value's lock: a change that comes later clears it.
            if *failure == WriteFailure::Permanent {
                self.slot.fail(*failure, &self.shelf);
            }
        })?;
        let larger = V::encoded_footprint(&encoded).saturating_sub(size / PLAUSIBLE);
        Ok(claim.try_grow(larger) && self.slot.keep(encoded, &mut claim, &self.shelf))
    }
}

/// A value to write.
pub struct Writing<'a, V: Footprint> {
    pinned: &'a Pinned<V>,
    value: WriteGuard<'a, V>,
    /// What it took before.
    before: usize,
    /// What it may take more.
    claim: Option<Claim<'a>>,
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
        let now = self.value.footprint();
        if now != self.before {
            self.pinned.slot.recount(now, self.claim.as_mut(), &self.pinned.shelf);
        }
    }
}

/// What is left of a chunk that left: to be dropped when no lock is held. Its bytes count until it is.
pub(crate) struct Gone<V: Footprint> {
    value: Option<Arc<RwLock<V>>>,
    slot: Arc<Slot<V>>,
    shelf: Hold<V>,
}

impl<V: Footprint> Gone<V> {
    pub(crate) fn new(value: Arc<RwLock<V>>, slot: Arc<Slot<V>>, shelf: Hold<V>) -> Gone<V> {
        Gone { value: Some(value), slot, shelf }
    }

    pub(crate) fn place(&self) -> &Coords {
        &self.slot.place
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slot.counted()
    }
}

impl<V: Footprint> Drop for Gone<V> {
    fn drop(&mut self) {
        self.value = None;
        self.slot.is_freed(&self.shelf);
    }
}

/// The shelf of a chunk in somebody's hands: of a request that has a promise, or of a visitor.
pub(crate) struct Hold<V: Footprint> {
    shelf: Arc<Inner<V>>,
    visits: bool,
}

impl<V: Footprint> Hold<V> {
    /// For a request that was promised what it has.
    pub(crate) fn promised(shelf: Arc<Inner<V>>) -> Hold<V> {
        Hold { shelf, visits: false }
    }

    /// For somebody else.
    pub(crate) fn visitor(shelf: Arc<Inner<V>>) -> Hold<V> {
        shelf.books.budget.visit(1);
        Hold { shelf, visits: true }
    }

    pub(crate) fn shelf(&self) -> &Arc<Inner<V>> {
        &self.shelf
    }
}

impl<V: Footprint> Deref for Hold<V> {
    type Target = Inner<V>;

    fn deref(&self) -> &Inner<V> {
        &self.shelf
    }
}

impl<V: Footprint> Drop for Hold<V> {
    fn drop(&mut self) {
        if self.visits {
            self.shelf.books.budget.end_visits(1);
        }
    }
}

/// Visits that were said to begin, for chunks that are looked for; those that are not found end with this.
pub(crate) struct Visitors<'a, V: Footprint> {
    shelf: &'a Arc<Inner<V>>,
    left: usize,
}

impl<'a, V: Footprint> Visitors<'a, V> {
    pub(crate) fn new(shelf: &'a Arc<Inner<V>>, count: usize) -> Visitors<'a, V> {
        shelf.books.budget.visit(count);
        Visitors { shelf, left: count }
    }

    pub(crate) fn shelf(&self) -> &'a Inner<V> {
        self.shelf
    }

    /// For a chunk that was found.
    pub(crate) fn next(&mut self) -> Hold<V> {
        debug_assert!(self.left > 0, "more than were said");
        self.left -= 1;
        Hold { shelf: self.shelf.clone(), visits: true }
    }
}

impl<V: Footprint> Drop for Visitors<'_, V> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.shelf.books.budget.end_visits(self.left);
        }
    }
}
