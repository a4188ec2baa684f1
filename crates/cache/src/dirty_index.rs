//! Which chunks of a cache a flush must look at.

use hyperslab_space::Coords;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    life::Phase,
    sync::{Mutex, Rank},
};

/// The chunks whose values are not in the file, by the number of their shelf: all that are dirty, encoded, or on their way to the file.
///
/// A chunk enters and leaves under the lock of its phase, in the step that changes it. So a chunk that was changed before a flush began is here, or is in
/// the file, or was deleted.
#[derive(Debug)]
pub(crate) struct DirtyIndex {
    /// Only shelves that have some.
    places: Mutex<FxHashMap<u64, FxHashSet<Coords>>>,
}

impl DirtyIndex {
    pub(crate) fn new() -> DirtyIndex {
        DirtyIndex { places: Mutex::new(Rank::Dirty, FxHashMap::default()) }
    }

    /// The chunk at a place of a shelf went from one phase to another.
    pub(crate) fn moved(&self, (shelf, place): (u64, &Coords), from: Phase, to: Phase) {
        match (from.is_unwritten(), to.is_unwritten()) {
            (false, true) => {
                self.places.lock().entry(shelf).or_default().insert(place.clone());
            }
            (true, false) => {
                let mut places = self.places.lock();
                if let Some(of_shelf) = places.get_mut(&shelf)
                    && of_shelf.remove(place)
                    && of_shelf.is_empty()
                {
                    places.remove(&shelf);
                }
            }
            _ => {}
        }
    }

    /// The places of those of a shelf, in no order.
    pub(crate) fn of(&self, shelf: u64) -> Vec<Coords> {
        self.places.lock().get(&shelf).map_or_else(Vec::new, |places| places.iter().cloned().collect())
    }

    /// The numbers of the shelves that have some, rising.
    pub(crate) fn shelves(&self) -> Vec<u64> {
        let mut shelves: Vec<u64> = self.places.lock().keys().copied().collect();
        shelves.sort_unstable();
        shelves
    }
}
