//! Pinned chunks.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use hyperslab_space::Coords;

use crate::{
    Demand, Footprint, Grant, WriteBack, WriteFailure,
    life::{Event, Phase},
    partition_state::PartitionState,
    slot::Slot,
    sync::{Reading, RwLock, WriteGuard, assert_values_rise},
};

/// Chunks are expected to be encoded to no less than such a part of them.
const PLAUSIBLE: usize = 8;

/// A pinned chunk: it stays in memory until this is dropped.
pub struct Pinned<V: Footprint> {
    pub(crate) slot: Arc<Slot<V>>,
    pub(crate) value: Arc<RwLock<V>>,
    /// After the value: the pin ends when the value is dropped.
    pub(crate) partition: Hold<V>,
}

impl<V: Footprint> Pinned<V> {
    /// Its coordinate in the grid.
    pub fn coord(&self) -> &Coords {
        &self.slot.coord
    }

    /// What its partition is of.
    pub fn source(&self) -> &Arc<V::Source> {
        &self.partition.source
    }

    /// The value, to read; any number of readers share it. A thread that reads several at once locks them by rising partition and coordinate.
    pub fn read(&self) -> Reading<'_, V> {
        assert_values_rise(Arc::as_ptr(&self.partition.shared) as usize, self.partition.number, self.coord());
        self.value.read()
    }

    /// The value, to write, alone. It is dirty from then on, and what was encoded ahead of time is dropped.
    pub fn write(&self) -> Writing<'_, V> {
        self.writing(true, None)
    }

    /// As [`Pinned::write`], for a value that grows: what it takes more comes out of what was granted for it.
    pub fn write_in<'a>(&'a self, grant: Grant<'a>) -> Writing<'a, V> {
        self.writing(true, Some(grant))
    }

    /// The value, alone, to load what is missing of it. What it stands for stays as it is, so it does not become dirty. A thread that waits here may
    /// find that another one has loaded it.
    pub fn complete_in<'a>(&'a self, grant: Grant<'a>) -> Writing<'a, V> {
        self.writing(false, Some(grant))
    }

    fn writing<'a>(&'a self, changes: bool, grant: Option<Grant<'a>>) -> Writing<'a, V> {
        let value = self.value.write();
        if changes {
            self.slot.happen(Event::Change, &self.partition);
        }
        let before = value.footprint();
        Writing { pinned: self, value, before, grant }
    }

    /// Takes part of a value that is as in the file. The result says whether there was something to take.
    pub(crate) fn shed(&self) -> bool {
        // A thread that has pinned it keeps all of it, also while it does not read it. One that pins it from now on waits for the value, and sees what is left.
        let Some(mut value) = self.value.try_write().filter(|_| self.slot.has_one_pin()) else {
            return false;
        };
        let before = value.footprint();
        value.shed();
        let now = value.footprint();
        if now != before {
            self.slot.recount(now, None, &self.partition);
        }
        now < before
    }

    /// Says that only a part of it is used.
    pub fn mark_used_in_part(&self) {
        self.slot.mark_used_in_part();
    }

    /// Takes it to be written, if it must be: where there is no room for an encoded copy, a chunk that is in the file can leave as fast.
    pub fn take(self) -> Option<WriteBack<V>> {
        let (_, encoded) = self.slot.take(&self.partition)?;
        Some(WriteBack::new(self.into_unreserved(), encoded, false))
    }

    /// A write-back may have a chunk longer than its reservation.
    fn into_unreserved(self) -> Pinned<V> {
        let partition = Hold::unreserved(self.partition.partition().clone());
        Pinned { slot: self.slot, value: self.value, partition }
    }

    /// Encodes a dirty value ahead of time, if no thread changes it and there is room for the copy; whether there is one now. This call never waits. A value
    /// that can never be encoded stays dirty, and eviction passes it by: the next flush tells why.
    pub fn encode_ahead(
        &self,
        encode: impl FnOnce(&V) -> Result<V::Encoded, WriteFailure>,
    ) -> Result<bool, WriteFailure> {
        // No thread can change it before the copy is kept.
        let Some(value) = self.value.try_read() else { return Ok(false) };
        if self.slot.phase() != Phase::Dirty {
            return Ok(false);
        }
        // A copy is worth no other chunk. It is made beside the chunks, and kept if there is room for what it became; without any, it is not made.
        let (budget, size) = (&self.partition.shared.budget, value.footprint());
        let Some(_aside) = budget.try_reserve(Demand { chunks: 0, aside: size }) else { return Ok(false) };
        let share = &self.partition.share;
        let Some(_claim) = share.try_claim(size / PLAUSIBLE) else { return Ok(false) };
        let Ok(mut grant) = budget.try_grant(size / PLAUSIBLE) else { return Ok(false) };
        let encoded = encode(&value).inspect_err(|failure| {
            // Under the value's lock: a change that comes later clears it.
            if *failure == WriteFailure::Permanent {
                self.slot.fail(*failure, &self.partition);
            }
        })?;
        let larger = V::encoded_footprint(&encoded).saturating_sub(size / PLAUSIBLE);
        let Some(_more) = share.try_claim(larger) else { return Ok(false) };
        Ok(grant.try_grow(larger) && self.slot.keep(encoded, &mut grant, &self.partition))
    }
}

/// A value to write.
pub struct Writing<'a, V: Footprint> {
    pinned: &'a Pinned<V>,
    value: WriteGuard<'a, V>,
    /// What it took before.
    before: usize,
    /// What it may take more.
    grant: Option<Grant<'a>>,
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
            self.pinned.slot.recount(now, self.grant.as_mut(), &self.pinned.partition);
        }
    }
}

/// What is left of a chunk that left: to be dropped when no lock is held. Its bytes count until it is.
pub(crate) struct Gone<V: Footprint> {
    value: Option<Arc<RwLock<V>>>,
    slot: Arc<Slot<V>>,
    partition: Hold<V>,
}

impl<V: Footprint> Gone<V> {
    pub(crate) fn new(value: Arc<RwLock<V>>, slot: Arc<Slot<V>>, partition: Hold<V>) -> Gone<V> {
        Gone { value: Some(value), slot, partition }
    }

    pub(crate) fn coord(&self) -> &Coords {
        &self.slot.coord
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slot.counted()
    }
}

impl<V: Footprint> Drop for Gone<V> {
    fn drop(&mut self) {
        self.value = None;
        self.slot.release(&self.partition);
    }
}

/// The partition of a pinned chunk: of a request that has a reservation, or of one that has none.
pub(crate) struct Hold<V: Footprint> {
    partition: Arc<PartitionState<V>>,
    unreserved: bool,
}

impl<V: Footprint> Hold<V> {
    /// For a request that has reserved what it pins.
    pub(crate) fn reserved(partition: Arc<PartitionState<V>>) -> Hold<V> {
        Hold { partition, unreserved: false }
    }

    /// For a pin without a reservation.
    pub(crate) fn unreserved(partition: Arc<PartitionState<V>>) -> Hold<V> {
        partition.shared.budget.begin_unreserved(1);
        Hold { partition, unreserved: true }
    }

    pub(crate) fn partition(&self) -> &Arc<PartitionState<V>> {
        &self.partition
    }
}

impl<V: Footprint> Deref for Hold<V> {
    type Target = PartitionState<V>;

    fn deref(&self) -> &PartitionState<V> {
        &self.partition
    }
}

impl<V: Footprint> Drop for Hold<V> {
    fn drop(&mut self) {
        if self.unreserved {
            self.partition.shared.budget.end_unreserved(1);
        }
    }
}

/// Unreserved pins that were said to begin, for chunks that are looked for; those that are not found end with this.
pub(crate) struct PendingPins<'a, V: Footprint> {
    partition: &'a Arc<PartitionState<V>>,
    left: usize,
}

impl<'a, V: Footprint> PendingPins<'a, V> {
    pub(crate) fn new(partition: &'a Arc<PartitionState<V>>, count: usize) -> PendingPins<'a, V> {
        partition.shared.budget.begin_unreserved(count);
        PendingPins { partition, left: count }
    }

    pub(crate) fn partition(&self) -> &'a PartitionState<V> {
        self.partition
    }

    /// For a chunk that was found.
    pub(crate) fn next(&mut self) -> Hold<V> {
        debug_assert!(self.left > 0, "more than were said");
        self.left -= 1;
        Hold { partition: self.partition.clone(), unreserved: true }
    }
}

impl<V: Footprint> Drop for PendingPins<'_, V> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.partition.shared.budget.end_unreserved(self.left);
        }
    }
}
