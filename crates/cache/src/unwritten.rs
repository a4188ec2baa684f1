//! The chunks that a flush must write: all that were not in the file when it began.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{Cache, Footprint, Shelf, Taken, inner::Inner, pinned::Visitors, slot::Slot};

/// Chunks that were not in the file when this was made: dirty, or in the hands of another thread that writes them.
///
/// A flush takes those that it can and waits for the rest, until none is left. A chunk that another thread failed to write is dirty again, and is taken here:
/// so each of them was written, or the thread that flushes knows why not. What becomes dirty later is not waited for.
pub struct Unwritten<V: Footprint> {
    left: Vec<(Shelf<V>, Arc<Slot<V>>)>,
}

impl<V: Footprint> Unwritten<V> {
    /// Those of some shelves at places that are wanted.
    pub fn of(shelves: &[Shelf<V>], wanted: impl Fn(&Coords) -> bool) -> Unwritten<V> {
        let mut left = Vec::new();
        for shelf in shelves {
            let unwritten = shelf.inner.unwritten().into_iter().filter(|slot| !is_done(slot) && wanted(&slot.place));
            left.extend(unwritten.map(|slot| (shelf.clone(), slot)));
        }
        Unwritten { left }
    }

    /// Those of all shelves of a cache.
    pub fn of_cache(cache: &Cache<V>) -> Unwritten<V> {
        Unwritten::of(&cache.unwritten_shelves(), |_| true)
    }

    /// The one at a place, if there is one.
    pub fn at(shelf: &Shelf<V>, place: &Coords) -> Unwritten<V> {
        let slot = shelf.inner.slots.lock().by_place.get(place).cloned();
        Unwritten { left: slot.into_iter().map(|slot| (shelf.clone(), slot)).collect() }
    }

    /// Takes all that are dirty, which the caller writes now. Only those are left that other threads write.
    pub fn take(&mut self) -> Vec<Taken<V>> {
        let mut taken = Vec::new();
        self.left.retain(|(shelf, slot)| {
            let mut visitors = Visitors::new(&shelf.inner, 1);
            let found = Inner::take(slot.clone(), &mut visitors);
            let is_left = found.is_none() && !is_done(slot);
            taken.extend(found);
            is_left
        });
        taken
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Waits until other threads have written those that are left, or failed to.
    pub fn wait(&self) {
        self.left.iter().for_each(|(_, slot)| slot.wait_written());
    }
}

/// Whether nothing of a chunk waits to be written.
fn is_done<V: Footprint>(slot: &Slot<V>) -> bool {
    !slot.phase().is_unwritten()
}
