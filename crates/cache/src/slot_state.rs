//! What changes of a chunk in memory, under the lock of its slot.

use std::sync::Arc;

use crate::{
    Footprint,
    life::{Event, Phase},
    sync::RwLock,
    write_failure::{Unwritable, WriteFailure},
};

/// What changes of a chunk in memory.
pub(crate) struct SlotState<V: Footprint> {
    pub(crate) phase: Phase,
    /// Not there before it is loaded. Each pin has a reference.
    pub(crate) value: Option<Arc<RwLock<V>>>,
    /// Only in the phase of that name.
    pub(crate) encoded: Option<Arc<V::Encoded>>,
    /// What partition and budget count for it: the value until it is freed, and the encoded copy, here or in its write-back.
    pub(crate) size: usize,
    pub(crate) copy: usize,
    /// Why the last attempt to write it failed, until something else happens to it. Eviction passes it by meanwhile.
    pub(crate) failure: Option<WriteFailure>,
}

impl<V: Footprint> SlotState<V> {
    /// Of a chunk that a thread loads.
    pub(crate) fn loading() -> SlotState<V> {
        SlotState { phase: Phase::Loading, value: None, encoded: None, size: 0, copy: 0, failure: None }
    }

    /// Moves on; whether that may be.
    pub(crate) fn happen(&mut self, event: Event) -> bool {
        let next = self.phase.after(event);
        // A chunk that goes out of service and comes back is as it was.
        if !matches!(event, Event::Withdraw | Event::Restore) {
            self.failure = None;
        }
        self.phase = next.unwrap_or(self.phase);
        let is_dropped = self.phase != Phase::Encoded && self.encoded.take().is_some();
        // What leaves counts until it is freed.
        let is_freed = is_dropped && matches!(event, Event::Change | Event::Withdraw);
        if is_freed || matches!(event, Event::Written | Event::Failed) {
            self.copy = 0;
        }
        next.is_some()
    }

    pub(crate) fn counted(&self) -> usize {
        self.size + self.copy
    }

    /// What it adds to the account of chunks that cannot be written.
    pub(crate) fn unwritable(&self) -> Unwritable {
        Unwritable::new(self.failure, self.counted())
    }

    /// Whether eviction may take it now, written or not.
    pub(crate) fn is_free(&self) -> bool {
        let may_leave = matches!(self.phase, Phase::Clean | Phase::Dirty | Phase::Encoded);
        may_leave && !self.is_in_use()
    }

    /// Leaves, if it is in the file.
    pub(crate) fn leave(&mut self) -> Option<Arc<RwLock<V>>> {
        if self.phase == Phase::Clean && self.happen(Event::Leave) { self.value.take() } else { None }
    }

    /// Is to be written, if it must be.
    pub(crate) fn take(&mut self) -> Option<Dirty<V>> {
        let value = self.value.clone().filter(|_| matches!(self.phase, Phase::Dirty | Phase::Encoded))?;
        let encoded = self.encoded.take();
        self.happen(Event::Take);
        Some((value, encoded))
    }

    /// Its value, for a thread that may have it now.
    pub(crate) fn value_in_service(&self) -> Option<Arc<RwLock<V>>> {
        self.value.clone().filter(|_| !self.phase.is_out_of_service())
    }

    pub(crate) fn is_in_use(&self) -> bool {
        self.value.as_ref().is_some_and(|value| Arc::strong_count(value) > 1)
    }
}

/// A value that must be written, and its encoded form if there is one.
pub(crate) type Dirty<V> = (Arc<RwLock<V>>, Option<Arc<<V as Footprint>::Encoded>>);

/// What may become of a chunk when there is no room.
pub(crate) enum Exit<V: Footprint> {
    /// It is gone; what is left of it.
    Gone(Arc<RwLock<V>>),
    /// It must be written first.
    Dirty(Dirty<V>),
    /// A thread has it, or writes it.
    Busy,
}
