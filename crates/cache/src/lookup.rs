//! The chunks of a request: there, to be loaded, or loaded by another thread.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{
    Footprint, Grant, Partition, Pinned,
    counters::Counter,
    partition_state::{PartitionState, SlotLookup},
    pinned::{Hold, PendingPins},
    slot::Slot,
};

/// What the cache has of a chunk.
pub enum Lookup<V: Footprint> {
    /// It is here.
    Hit(Pinned<V>),
    /// The caller must load it, or make it.
    Miss(LoadTicket<V>),
    /// Another thread loads it. To be waited for when all own load tickets are filled, or two could wait for each other.
    Loading(LoadWaiter<V>),
}

impl<V: Footprint> Partition<V> {
    /// Chunks, if all of them are here now; then they count as used. The caller needs no [reservation](crate::Cache::reserve), and must not wait
    /// for anything while it has them, because other threads wait for it. While a thread waits for memory, this finds nothing.
    pub fn hits(&self, coords: &[Coords]) -> Option<Vec<Pinned<V>>> {
        if self.inner.shared.budget.is_awaited() {
            return None;
        }
        let mut pins = PendingPins::new(&self.inner, coords.len());
        let slots = self.inner.look_all(coords)?;
        let pin = |slot: Arc<Slot<V>>| Some(Pinned { value: slot.value()?, slot, partition: pins.next() });
        let pinned = slots.into_iter().map(pin).collect::<Option<Vec<_>>>()?;
        pinned.iter().for_each(|pinned| pinned.slot.mark_used(&self.inner));
        self.inner.shared.looked(&self.inner.counters, Counter::Hits, pinned.len());
        Some(pinned)
    }

    /// A chunk that is not in memory, for a request that writes it past the cache: no thread loads it meanwhile. Needs no reservation, and counts as no miss.
    pub fn vacant(&self, coord: &Coords) -> Option<LoadTicket<V>> {
        let SlotLookup::New(slot) = self.inner.look(coord, false) else { return None };
        Some(LoadTicket { slot: Some(slot), partition: self.inner.clone() })
    }

    /// As [`Partition::vacant`], for requests that write different parts of the chunk where it is in the file: any number of them may have it at once.
    /// Nothing if another thread waits to load it.
    pub fn bypass(&self, coord: &Coords) -> Option<Bypass<V>> {
        Some(Bypass { slot: self.inner.bypass(coord)?, partition: self.inner.clone() })
    }

    /// What the cache has of a chunk, which counts as used. For requests that have a [reservation](crate::Cache::reserve).
    pub fn find(&self, coord: &Coords) -> Lookup<V> {
        match self.inner.look(coord, true) {
            SlotLookup::New(slot) => {
                self.inner.missed(coord);
                Lookup::Miss(LoadTicket { slot: Some(slot), partition: self.inner.clone() })
            }
            SlotLookup::Known(slot) => {
                slot.mark_used(&self.inner);
                self.inner.shared.looked(&self.inner.counters, Counter::Hits, 1);
                match slot.value() {
                    Some(value) => Lookup::Hit(Pinned { slot, value, partition: Hold::reserved(self.inner.clone()) }),
                    None => Lookup::Loading(LoadWaiter { slot, partition: self.clone() }),
                }
            }
        }
    }
}

/// A chunk that its holder must load. Dropping it cancels the load; threads that wait for it look again.
pub struct LoadTicket<V: Footprint> {
    /// Until it is filled.
    slot: Option<Arc<Slot<V>>>,
    partition: Arc<PartitionState<V>>,
}

impl<V: Footprint> LoadTicket<V> {
    /// Its coordinate in the grid.
    pub fn coord(&self) -> Option<&Coords> {
        self.slot.as_ref().map(|slot| &slot.coord)
    }

    /// The chunk, in room that was granted: as it is in the file, or not there yet.
    pub fn fill(mut self, value: V, grant: &mut Grant<'_>, dirty: bool) -> Option<Pinned<V>> {
        let (slot, partition) = (self.slot.take()?, self.partition.clone());
        let value = slot.fill(value, dirty, grant, &partition);
        Some(Pinned { slot, value, partition: Hold::reserved(partition) })
    }
}

impl<V: Footprint> Drop for LoadTicket<V> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.partition.cancel_load(&slot);
        }
    }
}

/// A chunk that is written past the cache: no thread loads it while this lives.
pub struct Bypass<V: Footprint> {
    slot: Arc<Slot<V>>,
    partition: Arc<PartitionState<V>>,
}

impl<V: Footprint> Drop for Bypass<V> {
    fn drop(&mut self) {
        self.partition.end_bypass(&self.slot);
    }
}

/// A chunk that another thread loads.
pub struct LoadWaiter<V: Footprint> {
    slot: Arc<Slot<V>>,
    partition: Partition<V>,
}

impl<V: Footprint> LoadWaiter<V> {
    /// Waits for it. If it could not be loaded, or has left already, it is looked for again.
    pub fn wait(self) -> Lookup<V> {
        match self.partition.inner.shared.budget.stuck(|| self.slot.wait(&self.partition.inner)) {
            Some(value) => {
                Lookup::Hit(Pinned { slot: self.slot, value, partition: Hold::reserved(self.partition.inner.clone()) })
            }
            None => self.partition.find(&self.slot.coord),
        }
    }
}
