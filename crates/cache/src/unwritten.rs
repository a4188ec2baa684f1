//! The chunks that a flush must write: all that were not in the file when it began.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{Cache, Footprint, Partition, WriteBack, partition_state::PartitionState, pinned::PendingPins, slot::Slot};

/// Chunks that were not in the file when this was made: dirty, or in the hands of another thread that writes them.
///
/// A flush takes those that it can and waits for the rest, until none is left. A chunk that another thread failed to write is dirty again, and is taken here:
/// so each of them was written, or the thread that flushes knows why not. What becomes dirty later is not waited for.
pub struct Unwritten<V: Footprint> {
    left: Vec<(Partition<V>, Arc<Slot<V>>)>,
}

impl<V: Footprint> Unwritten<V> {
    /// Those of some partitions at coordinates that are wanted.
    pub fn of(partitions: &[Partition<V>], wanted: impl Fn(&Coords) -> bool) -> Unwritten<V> {
        let mut left = Vec::new();
        for partition in partitions {
            let unwritten =
                partition.inner.unwritten().into_iter().filter(|slot| !is_done(slot) && wanted(&slot.coord));
            left.extend(unwritten.map(|slot| (partition.clone(), slot)));
        }
        Unwritten { left }
    }

    /// Those of all partitions of a cache.
    pub fn of_cache(cache: &Cache<V>) -> Unwritten<V> {
        Unwritten::of(&cache.unwritten_partitions(), |_| true)
    }

    /// The one at a coordinate, if there is one.
    pub fn at(partition: &Partition<V>, coord: &Coords) -> Unwritten<V> {
        let slot = partition.inner.slots.lock().by_coord.get(coord).cloned();
        Unwritten { left: slot.into_iter().map(|slot| (partition.clone(), slot)).collect() }
    }

    /// Takes all that are dirty, which the caller writes now. Only those are left that other threads write.
    pub fn take(&mut self) -> Vec<WriteBack<V>> {
        let mut taken = Vec::new();
        self.left.retain(|(partition, slot)| {
            let mut pins = PendingPins::new(&partition.inner, 1);
            let found = PartitionState::take(slot.clone(), &mut pins);
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
        self.left.iter().for_each(|(partition, slot)| slot.wait_written(&partition.inner));
    }
}

/// Whether nothing of a chunk waits to be written.
fn is_done<V: Footprint>(slot: &Slot<V>) -> bool {
    !slot.phase().is_unwritten()
}
