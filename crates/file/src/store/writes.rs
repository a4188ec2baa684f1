//! Writes to space that nothing in the file names yet.

use parking_lot::{Condvar, Mutex, RwLockWriteGuard};

use super::Store;

/// How many writes go on to space that the file does not name.
#[derive(Default)]
pub(crate) struct WritesInFlight {
    count: Mutex<usize>,
    none: Condvar,
}

/// One of them.
pub(crate) struct InFlight<'a>(&'a WritesInFlight);

impl WritesInFlight {
    /// Within an operation.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        *self.count.lock() += 1;
        InFlight(self)
    }

    fn wait(&self) {
        let mut count = self.count.lock();
        while *count > 0 {
            self.none.wait(&mut count);
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut count = self.0.count.lock();
        *count -= 1;
        if *count == 0 {
            self.0.none.notify_all();
        }
    }
}

impl Store {
    /// The exclusive operation lock, at a time when no write goes on to space that the file does not name.
    pub(crate) fn lock_at_rest(&self) -> RwLockWriteGuard<'_, ()> {
        loop {
            self.writes.wait();
            let alone = self.operation.write();
            // Writes begin within operations, so none begins now.
            if *self.writes.count.lock() == 0 {
                return alone;
            }
        }
    }
}
