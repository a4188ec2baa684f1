//! Chunks on their way to the file.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{
    Footprint, Partition, Pinned, Reading, WriteFailure, counters::Counter, life::Event,
    partition_state::PartitionState,
};

/// A dirty chunk that a thread writes to the file. If this is dropped before [`WriteBack::written`], it is dirty as before.
pub struct WriteBack<V: Footprint> {
    /// Always there, but while it is dropped.
    pinned: Option<Pinned<V>>,
    encoded: Option<Arc<V::Encoded>>,
    leaves: bool,
    written: bool,
    failure: Option<WriteFailure>,
    /// Memory for its encoded form, if no request has reserved it.
    lent: Option<usize>,
}

impl<V: Footprint> WriteBack<V> {
    /// A chunk, which `leaves` when it is written if it is to make room for others.
    pub(crate) fn new(pinned: Pinned<V>, encoded: Option<Arc<V::Encoded>>, leaves: bool) -> WriteBack<V> {
        WriteBack { pinned: Some(pinned), encoded, leaves, written: false, failure: None, lent: None }
    }

    /// With memory that was lent for its encoded form.
    pub(crate) fn with(mut self, lent: usize) -> WriteBack<V> {
        self.lent = Some(lent);
        self
    }

    /// Its coordinate in the grid.
    pub fn coord(&self) -> Option<&Coords> {
        self.pinned.as_ref().map(Pinned::coord)
    }

    /// The partition that it belongs to.
    pub fn partition(&self) -> Option<Partition<V>> {
        self.pinned.as_ref().map(|pinned| Partition { inner: pinned.partition.partition().clone() })
    }

    /// What was encoded ahead of time.
    pub fn encoded(&self) -> Option<&Arc<V::Encoded>> {
        self.encoded.as_ref()
    }

    /// The value. A thread that changes it meanwhile makes the chunk dirty again.
    pub fn read(&self) -> Option<Reading<'_, V>> {
        self.pinned.as_ref().map(Pinned::read)
    }

    /// Whether it belongs to a partition.
    pub(crate) fn is_in(&self, partition: &Arc<PartitionState<V>>) -> bool {
        self.pinned.as_ref().is_some_and(|pinned| Arc::ptr_eq(pinned.partition.partition(), partition))
    }

    /// What the budget counts for it.
    pub(crate) fn footprint(&self) -> usize {
        self.pinned.as_ref().map_or(0, |pinned| pinned.slot.counted())
    }

    /// It is in the file.
    pub fn written(mut self) {
        self.written = true;
    }

    /// It could not be written: it is dirty as before, and eviction passes it by.
    pub fn failed(mut self, failure: WriteFailure) {
        self.failure = Some(failure);
    }
}

impl<V: Footprint> Drop for WriteBack<V> {
    fn drop(&mut self) {
        let Some(Pinned { slot, value, partition }) = self.pinned.take() else { return };
        self.encoded = None;
        match self.failure {
            Some(failure) => slot.fail(failure, &partition),
            None => slot.happen(if self.written { Event::Written } else { Event::Failed }, &partition),
        }
        drop(value);
        if self.written {
            partition.counters.add(Counter::Written, 1);
            partition.shared.turned_over();
        }
        if self.leaves && !(self.written && partition.leave(&slot.coord)) {
            // A chunk that no thread tried to write is the next to leave again. One that cannot be written, or that was used meanwhile, is not.
            partition.stay(&slot, self.written || self.failure.is_some());
        }
        if let Some(lent) = self.lent {
            partition.shared.budget.give_back(lent);
        }
    }
}
