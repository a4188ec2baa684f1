//! The chunks of a request: there, to be loaded, or loaded by somebody else.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{
    Claim, Footprint, Pinned, Shelf,
    inner::{Inner, Look},
    pinned::{Hold, Visitors},
    slot::Slot,
};

/// What the cache has of a chunk.
pub enum Found<V: Footprint> {
    /// It is here.
    Here(Pinned<V>),
    /// Whoever asked must load it, or make it.
    Vacant(Vacancy<V>),
    /// Somebody loads it. To be waited for when all own vacancies are filled, or two could wait for each other.
    Awaited(Waiter<V>),
}

impl<V: Footprint> Shelf<V> {
    /// Chunks, if all of them are here now; then they count as used. Whoever gets them needs no [promise](crate::Cache::promise), and must not wait
    /// for anything while it has them: others wait for it. While somebody waits for room, nothing is here for those who have no promise.
    pub fn hits(&self, places: &[Coords]) -> Option<Vec<Pinned<V>>> {
        if self.inner.books.budget.is_awaited() {
            return None;
        }
        let mut visitors = Visitors::new(&self.inner, places.len());
        let slots = self.inner.look_all(places)?;
        let pin = |slot: Arc<Slot<V>>| Some(Pinned { value: slot.value()?, slot, shelf: visitors.next() });
        let pinned = slots.into_iter().map(pin).collect::<Option<Vec<_>>>()?;
        pinned.iter().for_each(|pinned| pinned.slot.is_used(&self.inner));
        self.inner.books.looked(&self.inner.books.counters.hits, pinned.len());
        Some(pinned)
    }

    /// A chunk that is not in memory, for whoever writes it past the cache: nobody loads it meanwhile. Needs no promise, and counts as no miss.
    pub fn vacant(&self, place: &Coords) -> Option<Vacancy<V>> {
        let Look::New(slot) = self.inner.look(place, false) else { return None };
        Some(Vacancy { slot: Some(slot), shelf: self.inner.clone() })
    }

    /// What the cache has of a chunk, which counts as used. For requests that have a [promise](crate::Cache::promise).
    pub fn find(&self, place: &Coords) -> Found<V> {
        match self.inner.look(place, true) {
            Look::New(slot) => {
                self.inner.missed(place);
                Found::Vacant(Vacancy { slot: Some(slot), shelf: self.inner.clone() })
            }
            Look::Known(slot) => {
                slot.is_used(&self.inner);
                self.inner.books.looked(&self.inner.books.counters.hits, 1);
                match slot.value() {
                    Some(value) => Found::Here(Pinned { slot, value, shelf: Hold::promised(self.inner.clone()) }),
                    None => Found::Awaited(Waiter { slot, shelf: self.clone() }),
                }
            }
        }
    }
}

/// A chunk that its holder must load. If this is dropped, the chunk is as if nobody had asked.
pub struct Vacancy<V: Footprint> {
    /// Until it is filled.
    slot: Option<Arc<Slot<V>>>,
    shelf: Arc<Inner<V>>,
}

impl<V: Footprint> Vacancy<V> {
    /// Its place in the grid.
    pub fn place(&self) -> Option<&Coords> {
        self.slot.as_ref().map(|slot| &slot.place)
    }

    /// The chunk, in room that was claimed: as it is in the file, or not there yet.
    pub fn fill(mut self, value: V, claim: &mut Claim<'_>, dirty: bool) -> Option<Pinned<V>> {
        let (slot, shelf) = (self.slot.take()?, self.shelf.clone());
        let value = slot.fill(value, dirty, claim, &shelf);
        Some(Pinned { slot, value, shelf: Hold::promised(shelf) })
    }
}

impl<V: Footprint> Drop for Vacancy<V> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.shelf.give_up(&slot);
        }
    }
}

/// A chunk that somebody else loads.
pub struct Waiter<V: Footprint> {
    slot: Arc<Slot<V>>,
    shelf: Shelf<V>,
}

impl<V: Footprint> Waiter<V> {
    /// Waits for it. If it could not be loaded, or has left already, it is looked for again.
    pub fn wait(self) -> Found<V> {
        match self.shelf.inner.books.budget.stuck(|| self.slot.wait()) {
            Some(value) => {
                Found::Here(Pinned { slot: self.slot, value, shelf: Hold::promised(self.shelf.inner.clone()) })
            }
            None => self.shelf.find(&self.slot.place),
        }
    }
}
