//! Entries that a caller reads or changes.

use std::ops::{Deref, DerefMut};

use parking_lot::{ArcRwLockReadGuard, ArcRwLockWriteGuard, RawRwLock};

use crate::{Cache, Entry, Id};

/// An entry to read; any number of readers share it. It stays in the cache as long as this lives.
pub struct Shared<T> {
    pub(crate) value: ArcRwLockReadGuard<RawRwLock, T>,
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// An entry to change, alone. If it was touched as mutable, it is dirty when this is dropped.
///
/// A thread that holds one must not ask for the same entry again, nor flush.
pub struct Exclusive<T: Entry> {
    pub(crate) cache: Cache,
    pub(crate) id: Id,
    pub(crate) value: ArcRwLockWriteGuard<RawRwLock, T>,
    pub(crate) changed: bool,
}

impl<T: Entry> Exclusive<T> {
    /// The value, to be changed where the file will be told of it in another way: a clean entry stays clean.
    pub fn amend(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Entry> Deref for Exclusive<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Entry> DerefMut for Exclusive<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed = true;
        &mut self.value
    }
}

impl<T: Entry> Drop for Exclusive<T> {
    /// The value is unlocked after this, so no thread sees it changed and clean.
    fn drop(&mut self) {
        if self.changed {
            self.cache.changed(self.id, self.value.footprint());
        }
    }
}
