//! Which chunks of a cache a flush must look at.

use std::collections::BTreeSet;

use hyperslab_space::Coords;

use crate::{
    life::Phase,
    sync::{Mutex, Rank},
};

/// The chunks whose values are not in the file, by the number of their shelf and by place: all that are dirty, encoded, or on their way to the file.
///
/// A chunk enters and leaves under the lock of its phase, in the step that changes it. So a chunk that was changed before a flush began is here, or is in
/// the file, or was deleted.
#[derive(Debug)]
pub(crate) struct DirtyIndex {
    chunks: Mutex<BTreeSet<(u64, Coords)>>,
}

impl DirtyIndex {
    pub(crate) fn new() -> DirtyIndex {
        DirtyIndex { chunks: Mutex::new(Rank::Dirty, BTreeSet::new()) }
    }

    /// The chunk at a place of a shelf went from one phase to another.
    pub(crate) fn moved(&self, (shelf, place): (u64, &Coords), from: Phase, to: Phase) {
        match (from.is_unwritten(), to.is_unwritten()) {
            (false, true) => self.chunks.lock().insert((shelf, place.clone())),
            (true, false) => self.chunks.lock().remove(&(shelf, place.clone())),
            _ => false,
        };
    }

    /// The places of those of a shelf.
    pub(crate) fn of(&self, shelf: u64) -> Vec<Coords> {
        let first = (shelf, Coords::new());
        let chunks = self.chunks.lock();
        chunks.range(first..).take_while(|(of, _)| *of == shelf).map(|(_, place)| place.clone()).collect()
    }

    /// The numbers of the shelves that have some.
    pub(crate) fn shelves(&self) -> Vec<u64> {
        let (chunks, mut found) = (self.chunks.lock(), Vec::new());
        let mut next = chunks.first();
        while let Some((shelf, _)) = next {
            found.push(*shelf);
            next = shelf.checked_add(1).and_then(|after| chunks.range((after, Coords::new())..).next());
        }
        found
    }
}
