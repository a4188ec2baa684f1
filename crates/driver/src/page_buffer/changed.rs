//! Waiting for a change of the pages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};

/// A condition variable. It makes no system call if no thread waits.
#[derive(Debug, Default)]
pub(super) struct Changed {
    condition: Condvar,
    /// Changed under the lock of the waiting threads. A thread that changes what they wait for takes that lock too, and so sees them here.
    waiting: AtomicUsize,
}

impl Changed {
    /// Lets go of the lock until there is a change.
    pub(super) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.condition.wait(guard).unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Wakes all that wait. To be called after the change, whose lock may be let go.
    pub(super) fn notify_all(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.condition.notify_all();
        }
    }
}
