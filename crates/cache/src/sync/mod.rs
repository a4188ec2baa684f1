//! Locks that know their place: debug builds fail where they are taken in another order than the one that is laid down, whether or not that led to a
//! standstill this time.
//!
//! With the feature `shuttle` they are those of the crate of that name, which tries out in which order threads can run.

#[cfg(feature = "shuttle")]
mod explored;
mod rank;

use std::ops::{Deref, DerefMut};

#[cfg(feature = "shuttle")]
use explored as raw;
#[cfg(not(feature = "shuttle"))]
use parking_lot as raw;

use self::rank::Held;
pub use self::rank::assert_no_locks_held;
pub(crate) use self::rank::{Rank, assert_values_rise};

/// Numbers that threads go by when they wait.
pub(crate) mod atomic {
    #[cfg(feature = "shuttle")]
    pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    #[cfg(not(feature = "shuttle"))]
    pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::thread::yield_now;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::thread::yield_now;

/// For one thread at a time.
#[derive(Debug)]
pub(crate) struct Mutex<T> {
    rank: Rank,
    raw: raw::Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(rank: Rank, value: T) -> Mutex<T> {
        Mutex { rank, raw: raw::Mutex::new(value) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // Before it waits: who would wait forever says why.
        let _held = Held::alone(self.rank);
        MutexGuard { raw: self.raw.lock(), _held }
    }
}

/// What is locked, until this is dropped.
pub(crate) struct MutexGuard<'a, T> {
    raw: raw::MutexGuard<'a, T>,
    _held: Held,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.raw
    }
}

/// Where threads wait until something has changed.
#[derive(Debug, Default)]
pub(crate) struct Condvar(raw::Condvar);

impl Condvar {
    /// Lets go of the lock, waits, and takes it again.
    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.0.wait(&mut guard.raw);
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// For any number of readers, or one writer.
#[derive(Debug)]
pub(crate) struct RwLock<T> {
    rank: Rank,
    raw: raw::RwLock<T>,
}

impl<T> RwLock<T> {
    pub(crate) fn new(rank: Rank, value: T) -> RwLock<T> {
        RwLock { rank, raw: raw::RwLock::new(value) }
    }

    pub(crate) fn read(&self) -> Reading<'_, T> {
        let _held = Held::shared(self.rank);
        Reading { raw: self.raw.read(), _held }
    }

    /// To read, if no thread writes or waits to write.
    pub(crate) fn try_read(&self) -> Option<Reading<'_, T>> {
        let _held = Held::shared(self.rank);
        Some(Reading { raw: self.raw.try_read()?, _held })
    }

    /// To write, if no thread has the value.
    pub(crate) fn try_write(&self) -> Option<WriteGuard<'_, T>> {
        let _held = Held::alone(self.rank);
        Some(WriteGuard { raw: self.raw.try_write()?, _held })
    }

    pub(crate) fn write(&self) -> WriteGuard<'_, T> {
        let _held = Held::alone(self.rank);
        WriteGuard { raw: self.raw.write(), _held }
    }
}

/// A value to read.
pub struct Reading<'a, T> {
    raw: raw::RwLockReadGuard<'a, T>,
    _held: Held,
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

/// A value to write.
pub(crate) struct WriteGuard<'a, T> {
    raw: raw::RwLockWriteGuard<'a, T>,
    _held: Held,
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.raw
    }
}
