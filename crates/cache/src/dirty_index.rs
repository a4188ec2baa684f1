//! Which chunks of a cache a flush must look at.

use hyperslab_space::Coords;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    life::Phase,
    sync::{Mutex, Rank},
};

/// The chunks whose values are not in the file, by the number of their partition: all that are dirty, encoded, or on their way to the file.
///
/// A chunk enters and leaves under the lock of its phase, in the step that changes it. So a chunk that was changed before a flush began is here, or is in
/// the file, or was deleted.
#[derive(Debug)]
pub(crate) struct DirtyIndex {
    /// Only partitions that have some.
    coords: Mutex<FxHashMap<u64, FxHashSet<Coords>>>,
}

impl DirtyIndex {
    pub(crate) fn new() -> DirtyIndex {
        DirtyIndex { coords: Mutex::new(Rank::Dirty, FxHashMap::default()) }
    }

    /// The chunk at a coordinate of a partition went from one phase to another.
    pub(crate) fn moved(&self, (partition, coord): (u64, &Coords), from: Phase, to: Phase) {
        match (from.is_unwritten(), to.is_unwritten()) {
            (false, true) => {
                self.coords.lock().entry(partition).or_default().insert(coord.clone());
            }
            (true, false) => {
                let mut coords = self.coords.lock();
                if let Some(of_shelf) = coords.get_mut(&partition)
                    && of_shelf.remove(coord)
                    && of_shelf.is_empty()
                {
                    coords.remove(&partition);
                }
            }
            _ => {}
        }
    }

    /// The coordinates of those of a partition, in no order.
    pub(crate) fn of(&self, partition: u64) -> Vec<Coords> {
        self.coords.lock().get(&partition).map_or_else(Vec::new, |coords| coords.iter().cloned().collect())
    }

    /// The numbers of the partitions that have some, rising.
    pub(crate) fn partitions(&self) -> Vec<u64> {
        let mut partitions: Vec<u64> = self.coords.lock().keys().copied().collect();
        partitions.sort_unstable();
        partitions
    }
}
