//! The locks of `shuttle`, in the manner of those that are used otherwise: no poison, and a thread that waits keeps the guard.

use std::{
    ops::{Deref, DerefMut},
    sync::PoisonError,
};

use shuttle::sync;

#[derive(Debug)]
pub(super) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Always there, but while it is waited.
pub(super) struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(guard) => guard,
            None => unreachable!("a thread that waits looks at nothing"),
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(guard) => guard,
            None => unreachable!("a thread that waits looks at nothing"),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Condvar(sync::Condvar);

impl Condvar {
    pub(super) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        guard.0 = guard.0.take().map(|guard| self.0.wait(guard).unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[derive(Debug)]
pub(super) struct RwLock<T>(sync::RwLock<T>);

pub(super) type RwLockReadGuard<'a, T> = sync::RwLockReadGuard<'a, T>;
pub(super) type RwLockWriteGuard<'a, T> = sync::RwLockWriteGuard<'a, T>;

impl<T> RwLock<T> {
    pub(super) fn new(value: T) -> RwLock<T> {
        RwLock(sync::RwLock::new(value))
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.0.try_read().ok()
    }

    pub(super) fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.0.try_write().ok()
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
