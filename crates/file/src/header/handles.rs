//! Open handles of objects. An object that loses its last name while a handle is open, or has none yet, is *unnamed*: it stays as it is until its
//! last handle is dropped, and is deleted by the next operation, flush or close then. Its header still counts one name, so a process that is killed
//! before leaves an object that takes space and that nothing leads to.
//!
//! ```text
//!  named --last name goes, no handle--> deleted
//!    |  ^                                  ^
//!    |  +--gets a name--+                  |
//!    +--last name goes, handles open--> unnamed --last handle dropped, next operation--+
//!                                          ^
//!                     made without a name--+
//! ```

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab_driver::cores::fork::{self, Process};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::{OpenFile, Result};

/// A handle of an object: while it lives, the object is not deleted. It may be dropped anywhere, under any lock: dropping it only counts.
pub struct Handle {
    handles: Arc<Handles>,
    address: u64,
}

/// The handles of a file that may be changed. Its lock is taken for a moment, and no other lock is taken meanwhile.
#[derive(Default)]
pub(crate) struct Handles {
    open: Mutex<Open>,
    /// Whether an unnamed object may have lost its last handle.
    waits: AtomicBool,
    process: Process,
}

#[derive(Default)]
struct Open {
    /// How many handles there are, by the address of the header.
    counts: FxHashMap<u64, usize>,
    /// Unnamed objects by the address of the header, and how many flushes there had been when they lost their last name, if they ever had one.
    unnamed: FxHashMap<u64, Option<u64>>,
    /// Those of them that have no handle, and perhaps some that got a name or a handle since.
    abandoned: BTreeSet<u64>,
}

impl Open {
    /// The unnamed objects without handles, which are forgotten here. Looks at no others.
    fn take_abandoned(&mut self) -> Vec<(u64, Option<u64>)> {
        let abandoned = std::mem::take(&mut self.abandoned);
        let Open { counts, unnamed, .. } = self;
        let without_handle = abandoned.into_iter().filter(|address| !counts.contains_key(address));
        without_handle.filter_map(|address| Some((address, unnamed.remove(&address)?))).collect()
    }
}

impl OpenFile {
    /// A new handle of the object at an address. The caller holds changes off, or is the operation itself. Where nothing is deleted, there
    /// is nothing to count.
    pub fn handle(&self, address: u64) -> Option<Handle> {
        let handles = self.store.as_ref()?.handles.clone();
        *handles.open.lock().counts.entry(address).or_default() += 1;
        Some(Handle { handles, address })
    }

    /// Whether there are handles of the object at an address. Only within an operation.
    pub fn has_handle(&self, address: u64) -> bool {
        self.store.as_ref().is_some_and(|store| store.handles.open.lock().counts.contains_key(&address))
    }

    /// Whether the object at an address has no name.
    pub fn is_unnamed(&self, address: u64) -> bool {
        self.store.as_ref().is_some_and(|store| store.handles.open.lock().unnamed.contains_key(&address))
    }

    /// The object at an address, of which there are handles, loses its last name.
    pub fn lose_last_name(&self, address: u64) -> Result<()> {
        let (handles, flushes) = (&self.store()?.handles, self.flushes());
        let mut open = handles.open.lock();
        open.unnamed.insert(address, Some(flushes));
        // The last handle may have been dropped since the operation looked for one.
        if !open.counts.contains_key(&address) {
            open.abandoned.insert(address);
            handles.waits.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The object at an address is new, and there are handles of it, but no names yet.
    pub fn begin_unnamed(&self, address: u64) -> Result<()> {
        let mut open = self.store()?.handles.open.lock();
        open.unnamed.insert(address, None);
        if !open.counts.contains_key(&address) {
            open.abandoned.insert(address);
        }
        Ok(())
    }

    /// Whether the object at an address was unnamed. It is not any more: the name that its header counts is a new one.
    pub fn gain_first_name(&self, address: u64) -> Result<bool> {
        Ok(self.store()?.handles.open.lock().unnamed.remove(&address).is_some())
    }

    /// The unnamed objects without handles, and how many flushes there had been when each lost its name, if it had one. They are the caller's to
    /// delete. Only within an operation.
    pub fn take_abandoned(&self) -> Vec<(u64, Option<u64>)> {
        let Some(handles) = self.store.as_ref().map(|store| &store.handles) else { return Vec::new() };
        handles.open.lock().take_abandoned()
    }

    /// Takes back unnamed objects that could not be deleted: the next flush tries again.
    pub fn keep_abandoned(&self, abandoned: &[(u64, Option<u64>)]) {
        if let Some(store) = &self.store {
            let mut open = store.handles.open.lock();
            open.unnamed.extend(abandoned.iter().copied());
            open.abandoned.extend(abandoned.iter().map(|(address, _)| *address));
        }
    }

    /// Whether [`OpenFile::take_abandoned`] may have something to give that it had not when this was asked before: a file that is poisoned
    /// cannot delete anything, and must not be asked to without end.
    pub fn notice_abandoned(&self) -> bool {
        let Some(waits) = self.store.as_ref().map(|store| &store.handles.waits) else { return false };
        waits.load(Ordering::Relaxed) && waits.swap(false, Ordering::Relaxed)
    }

    /// Whether there are unnamed objects that have lost their last handle, also those that could not be deleted.
    pub fn has_abandoned(&self) -> bool {
        self.store.as_ref().is_some_and(|store| !store.handles.open.lock().abandoned.is_empty())
    }

    /// The file is about to be closed: handles keep no object any more.
    pub fn abandon_all(&self) {
        let Some(handles) = self.store.as_ref().map(|store| &store.handles) else { return };
        let mut open = handles.open.lock();
        open.counts.clear();
        open.abandoned = open.unnamed.keys().copied().collect();
        handles.waits.store(!open.unnamed.is_empty(), Ordering::Relaxed);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.handles.process.is_this() {
            // A forked process deletes nothing, and the lock may have been another thread's of its parent.
            return;
        }
        // Handles go in threads that are not inside the engine, too.
        let _held = fork::hold();
        let Open { counts, unnamed, abandoned } = &mut *self.handles.open.lock();
        let Some(count) = counts.get_mut(&self.address) else { return };
        *count -= 1;
        if *count == 0 {
            counts.remove(&self.address);
            if unnamed.contains_key(&self.address) {
                abandoned.insert(self.address);
                self.handles.waits.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("address", &self.address).finish()
    }
}
