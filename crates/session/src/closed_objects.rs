//! Objects that leave memory when their last handle is dropped, if the file was opened so ([`Access::evict_on_close`](crate::Access::evict_on_close)).
//!
//! A handle may be dropped anywhere, also under locks, so dropping it only notes the object. The next look-up of an object evicts what was noted before. Blocks and chunks
//! that were changed since the last flush stay until the next one has written them. Evicting never waits for other threads.

use std::{collections::BTreeSet, sync::Arc};

use hyperslab_driver::cores::fork::{self, Process};
use parking_lot::Mutex;

use crate::Session;

/// The closed objects of a file, by the addresses of their headers. Its lock is taken for a moment, and no other lock is taken meanwhile.
#[derive(Debug)]
pub(crate) struct ClosedObjects {
    noted: Mutex<Noted>,
    process: Process,
}

#[derive(Debug, Default)]
struct Noted {
    /// Those that nothing was evicted of yet.
    closed: BTreeSet<u64>,
    /// Those that have changed blocks or chunks, or that another handle uses.
    held: BTreeSet<u64>,
}

/// Notes an object as closed when the last handle that has this is dropped.
#[derive(Debug)]
pub(crate) struct NoteClosed {
    objects: Arc<ClosedObjects>,
    address: u64,
}

impl ClosedObjects {
    pub(crate) fn new() -> Arc<ClosedObjects> {
        Arc::new(ClosedObjects { noted: Mutex::default(), process: Process::this() })
    }

    /// For a handle of the object at an address.
    pub(crate) fn note_later(self: &Arc<ClosedObjects>, address: u64) -> Arc<NoteClosed> {
        Arc::new(NoteClosed { objects: self.clone(), address })
    }
}

impl Session {
    /// Evicts the objects that were closed since the last look-up. The caller holds no lock.
    pub(crate) fn evict_closed(&self) {
        if let Some(objects) = &self.engine.closed_objects {
            let closed = std::mem::take(&mut objects.noted.lock().closed);
            self.evict_noted(objects, closed);
        }
    }

    /// As [`Session::evict_closed`], also objects that a flush has just written.
    pub(crate) fn evict_closed_and_flushed(&self) {
        if let Some(objects) = &self.engine.closed_objects {
            let Noted { mut closed, held } = std::mem::take(&mut *objects.noted.lock());
            closed.extend(held);
            self.evict_noted(objects, closed);
        }
    }

    fn evict_noted(&self, objects: &ClosedObjects, closed: BTreeSet<u64>) {
        for address in closed {
            let left = self.evict_object(address);
            let mut noted = objects.noted.lock();
            match left {
                Some(0) => {}
                Some(_) => _ = noted.held.insert(address),
                None => _ = noted.closed.insert(address),
            }
        }
    }

    /// Forgets what memory has of an object, if no handle uses it; how much stays. `None` if another thread uses the file now.
    fn evict_object(&self, address: u64) -> Option<usize> {
        let file = self.file();
        if file.has_handle(address) || !self.engine.partitions.release(address) {
            return Some(1);
        }
        // A block that cannot be encoded is changed, and stays.
        file.evict_object(address).unwrap_or(Some(1))
    }
}

impl Drop for NoteClosed {
    fn drop(&mut self) {
        if !self.objects.process.is_this() {
            // The lock may have been that of another thread of the parent process.
            return;
        }
        let _held = fork::hold();
        self.objects.noted.lock().closed.insert(self.address);
    }
}
