//! The table of the files that this process has open.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use hyperslab_driver::{
    FileIdentity, FileStamp,
    cores::fork::{PerProcess, Process},
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::engine::Engine;

/// All open files. This lock is taken for a look at the table, never while a file is opened or closed. A process that is forked begins with an empty
/// table: it opens files anew.
static TABLE: PerProcess<Mutex<HashMap<FileIdentity, Arc<Slot>>>> = PerProcess::new();

/// The place of one file in the table.
struct Slot {
    /// Where it is in which table.
    key: Option<(Process, FileIdentity)>,
    /// Held while the engine is made, so that two threads make one. It is not held while the engine is closed, because that waits for other
    /// threads, which may be opening files.
    state: Mutex<State>,
    /// Tells of the end of `Closing`.
    closed: Condvar,
    /// How many entries there are. It changes under the lock of the table.
    entries: AtomicUsize,
}

enum State {
    Vacant,
    Open(Weak<Engine>),
    Closing,
}

/// What to do if another thread is closing the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Waits,
    /// For threads that may hold what the closing thread waits for.
    Refuses,
}

/// A file in the table, as long as an opening or a thread uses it.
pub(crate) struct Entry(Arc<Slot>);

/// The state of a slot that no other thread changes meanwhile.
pub(crate) struct SlotGuard<'a> {
    slot: &'a Slot,
    state: MutexGuard<'a, State>,
}

impl Entry {
    pub(super) fn of(identity: FileIdentity) -> Entry {
        let mut table = TABLE.get_or_default().lock();
        let slot = table.entry(identity).or_insert_with(|| Arc::new(Slot::new(Some((Process::this(), identity)))));
        slot.entries.fetch_add(1, Ordering::Relaxed);
        Entry(slot.clone())
    }

    /// An entry that no other thread finds.
    pub(super) fn private() -> Entry {
        Entry(Arc::new(Slot::new(None)))
    }

    pub(super) fn lock(&self) -> SlotGuard<'_> {
        SlotGuard { slot: &self.0, state: self.0.state.lock() }
    }

    /// The slot when no thread is closing the file; nothing if the caller does not wait for that.
    pub(super) fn wait(&self, patience: Patience) -> Option<SlotGuard<'_>> {
        let mut guard = self.lock();
        while matches!(*guard.state, State::Closing) {
            if patience == Patience::Refuses {
                return None;
            }
            self.0.closed.wait(&mut guard.state);
        }
        Some(guard)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Some((process, identity)) = self.0.key else { return };
        if !process.is_this() {
            return;
        }
        let mut table = TABLE.get_or_default().lock();
        if self.0.entries.fetch_sub(1, Ordering::Relaxed) == 1 {
            table.remove(&identity);
        }
    }
}

impl Slot {
    fn new(key: Option<(Process, FileIdentity)>) -> Slot {
        Slot { key, state: Mutex::new(State::Vacant), closed: Condvar::new(), entries: AtomicUsize::new(0) }
    }
}

impl SlotGuard<'_> {
    /// The engine of the file, if it is open.
    pub(super) fn engine(&self) -> Option<Arc<Engine>> {
        match &*self.state {
            State::Open(engine) => engine.upgrade(),
            State::Vacant | State::Closing => None,
        }
    }

    pub(super) fn set(&mut self, engine: &Arc<Engine>) {
        *self.state = State::Open(Arc::downgrade(engine));
    }

    /// The last opening of an engine has ended.
    pub(super) fn vacate(&mut self, engine: &Arc<Engine>) {
        if self.is_of(engine) {
            *self.state = State::Vacant;
        }
    }

    /// The last opening of an engine ends. An engine that was replaced has no slot any more.
    pub(super) fn begin_closing(&mut self, engine: &Arc<Engine>) {
        if self.is_of(engine) {
            *self.state = State::Closing;
        }
    }

    pub(super) fn end_closing(&mut self, engine: &Arc<Engine>) {
        if matches!(*self.state, State::Closing) && !engine.is_replaced() {
            *self.state = State::Vacant;
            self.slot.closed.notify_all();
        }
    }

    fn is_of(&self, engine: &Arc<Engine>) -> bool {
        matches!(&*self.state, State::Open(open) if std::ptr::eq(open.as_ptr(), Arc::as_ptr(engine)))
    }
}

/// Whether a path leads to a file now.
pub(super) fn leads_to(path: &Path, identity: FileIdentity) -> bool {
    FileStamp::of_path(path).is_ok_and(|stamp| stamp.identity() == identity)
}
