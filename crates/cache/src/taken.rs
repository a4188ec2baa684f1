//! Chunks on their way to the file.

use std::sync::Arc;

use hyperslab_space::Coords;

use crate::{Footprint, Pinned, Reading, Shelf, WriteFailure, inner::Inner, life::Event, statistics::count};

/// A dirty chunk that somebody writes to the file. If this is dropped before [`Taken::written`], it is dirty as before.
pub struct Taken<V: Footprint> {
    /// Always there, but while it is dropped.
    pinned: Option<Pinned<V>>,
    encoded: Option<Arc<V::Encoded>>,
    leaves: bool,
    written: bool,
    failure: Option<WriteFailure>,
    /// Memory for its encoded form, if nobody was promised it.
    lent: Option<usize>,
}

impl<V: Footprint> Taken<V> {
    /// A chunk, which `leaves` when it is written if it is to make room for others.
    pub(crate) fn new(pinned: Pinned<V>, encoded: Option<Arc<V::Encoded>>, leaves: bool) -> Taken<V> {
        Taken { pinned: Some(pinned), encoded, leaves, written: false, failure: None, lent: None }
    }

    /// With memory that was lent for its encoded form.
    pub(crate) fn with(mut self, lent: usize) -> Taken<V> {
        self.lent = Some(lent);
        self
    }

    /// Its place in the grid.
    pub fn place(&self) -> Option<&Coords> {
        self.pinned.as_ref().map(Pinned::place)
    }

    /// The shelf that it belongs to.
    pub fn shelf(&self) -> Option<Shelf<V>> {
        self.pinned.as_ref().map(|pinned| Shelf { inner: pinned.shelf.shelf().clone() })
    }

    /// What was encoded ahead of time.
    pub fn encoded(&self) -> Option<&Arc<V::Encoded>> {
        self.encoded.as_ref()
    }

    /// The value. Whoever changes it meanwhile makes the chunk dirty again.
    pub fn read(&self) -> Option<Reading<'_, V>> {
        self.pinned.as_ref().map(Pinned::read)
    }

    /// Whether it belongs to a shelf.
    pub(crate) fn is_of(&self, shelf: &Arc<Inner<V>>) -> bool {
        self.pinned.as_ref().is_some_and(|pinned| Arc::ptr_eq(pinned.shelf.shelf(), shelf))
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

impl<V: Footprint> Drop for Taken<V> {
    fn drop(&mut self) {
        let Some(Pinned { slot, value, shelf }) = self.pinned.take() else { return };
        self.encoded = None;
        match self.failure {
            Some(failure) => slot.fail(failure, &shelf),
            None => slot.happen(if self.written { Event::Written } else { Event::Failed }, &shelf),
        }
        drop(value);
        if self.written {
            count(&shelf.books.counters.written, 1);
        }
        if self.leaves && !(self.written && shelf.leave(&slot.place)) {
            // A chunk that no thread tried to write is the next to leave again. One that cannot be written, or that was used meanwhile, is not.
            shelf.stay(&slot, self.written || self.failure.is_some());
        }
        if let Some(lent) = self.lent {
            shelf.books.budget.give_back(lent);
        }
    }
}
