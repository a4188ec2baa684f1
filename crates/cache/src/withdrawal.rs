//! Chunks out of service while what replaces them is stored.
//!
//! ```text
//!  Dirty, Encoded --withdraw--> Withdrawn --commit--> gone       the replacement is in the file
//!                                        |
//!                                        +--drop----> Dirty      it could not be stored
//! ```
//!
//! A thread that looks for such a chunk waits as for one that is being loaded, a flush waits as for one that another thread writes. The thread that has a
//! [`Withdrawal`] waits for no chunk and for no memory, so both waits end.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{
    Footprint, LoadTicket, Partition,
    life::Event,
    partition_state::PartitionState,
    pinned::{Gone, Hold},
    slot::Slot,
    sync::yield_now,
};

/// Chunks that are replaced past the cache, or cut off: out of service, with the values that the file does not have. If this is dropped without
/// [`Withdrawal::commit`], they are in the cache as before, dirty.
///
/// The thread that has it must not wait for these chunks, as a flush of all of their dataset does.
#[must_use]
pub struct Withdrawal<V: Footprint> {
    /// Those that are not in the file.
    chunks: Vec<(Arc<Slot<V>>, Hold<V>)>,
    /// For a chunk that was not in memory, so that no thread loads it.
    _vacant: Option<LoadTicket<V>>,
}

impl<V: Footprint> Partition<V> {
    /// Takes a chunk out of service; if it is not in memory, no thread loads it meanwhile. Waits for threads that load it, write it or hold it.
    pub fn withdraw(&self, coord: &Coords) -> Withdrawal<V> {
        let mut withdrawal = Withdrawal::none();
        while withdrawal.chunks.is_empty() {
            if let Some(ticket) = self.vacant(coord) {
                withdrawal._vacant = Some(ticket);
                break;
            }
            withdrawal.take(&self.inner, coord);
        }
        withdrawal
    }

    /// Takes all chunks in memory out of service whose coordinates go, as [`Partition::withdraw`] does. Those that are in the file leave at once.
    pub fn withdraw_where(&self, goes: &dyn Fn(&Coords) -> bool) -> Withdrawal<V> {
        let mut withdrawal = Withdrawal::none();
        for coord in self.coords().iter().filter(|coord| goes(coord)) {
            while !withdrawal.take(&self.inner, coord) {}
        }
        withdrawal
    }
}

impl<V: Footprint> Withdrawal<V> {
    /// No chunks.
    pub fn none() -> Withdrawal<V> {
        Withdrawal { chunks: Vec::new(), _vacant: None }
    }

    /// How many chunks it has that are not in the file.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether it has no chunk that is not in the file.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// What replaces the chunks is in the file and in the index, or they are no longer part of the dataset: their values are dropped.
    pub fn commit(mut self) {
        for (slot, partition) in std::mem::take(&mut self.chunks) {
            let mut slots = partition.slots.lock();
            let value = slot.leave_withdrawn(&partition);
            if slots.by_coord.get(&slot.coord).is_some_and(|known| Arc::ptr_eq(known, &slot)) {
                slots.by_coord.remove(&slot.coord);
                slots.order.leave(&slot.coord, false);
            }
            drop(slots);
            drop(value.map(|value| Gone::new(value, slot, partition)));
        }
    }

    /// Tries to take a chunk out of service. Whether that is done, or the chunk has left; if not, another thread had it.
    fn take(&mut self, partition: &Arc<PartitionState<V>>, coord: &Coords) -> bool {
        let Some(slot) = partition.slots.lock().by_coord.get(coord).cloned() else { return true };
        // Memory that it takes may become free soon.
        let hold = Hold::unreserved(partition.clone());
        if slot.withdraw(partition) {
            self.chunks.push((slot, hold));
            return true;
        }
        drop(hold);
        if partition.evict(coord).is_some() {
            return true;
        }
        slot.wait_settled(partition);
        // A request that has just released its range lock may still hold it, or the encoder in the background.
        yield_now();
        false
    }
}

impl<V: Footprint> Drop for Withdrawal<V> {
    fn drop(&mut self) {
        for (slot, partition) in self.chunks.drain(..) {
            slot.happen(Event::Restore, &partition);
        }
    }
}
