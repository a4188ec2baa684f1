//! Operations: what happens as a whole or not at all.

use std::sync::atomic::Ordering;

use hyperslab_alloc::Span;
use hyperslab_driver::cores::SharedLock;
use parking_lot::RwLockReadGuard;

use crate::{Error, Kind, OpenFile, Result, gate::Writing, store::Store};

/// While this lives, nothing in the file changes. A file that is only read needs none.
pub struct Reading<'a> {
    _shared: Option<(RwLockReadGuard<'a, ()>, SharedLock)>,
}

impl OpenFile {
    /// Holds changes off. A thread may ask for this again while it has it, of any file, but must not change the file meanwhile. A thread that has none
    /// waits behind operations that wait.
    pub fn reading(&self) -> Reading<'_> {
        let shared = self.store.as_ref().map(|store| match SharedLock::is_held() {
            true => store.operation.read_recursive(),
            false => store.operation.read(),
        });
        Reading { _shared: shared.map(|shared| (shared, SharedLock::new())) }
    }

    /// Does one operation that changes the file, alone. Between operations all blocks belong together, so that is when they may be
    /// written.
    ///
    /// An operation that fails before it changes anything leaves no trace. One that fails in the middle poisons the file: what is in the
    /// storage stays as it was at the last flush, and nothing more is written.
    pub fn operate<T, E: From<Error> + std::error::Error + 'static>(
        &self,
        change: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let store = self.store()?;
        let _alone = store.operation.write();
        self.check_poison()?;
        self.mark_whole();
        let begun = Begun(store);
        let done = change();
        std::mem::forget(begun);
        match done {
            Ok(done) => {
                // The change is made. What cannot be written now stays in memory, and the next flush tells of it.
                if (store.cache.wants_flush() || store.wants_space()) && self.flush_now().is_err() {
                    self.check_poison()?;
                }
                Ok(done)
            }
            Err(why) => {
                if store.changes.load(Ordering::Relaxed) != store.whole.load(Ordering::Relaxed) {
                    store.poison(&why);
                }
                Err(why)
            }
        }
    }

    /// A part of an operation that takes space and writes values there, and changes no block: if it fails, the space is given back, as if nothing had
    /// happened. So an operation that fails only here does not poison the file.
    pub fn tentative<T, E: From<Error>>(&self, attempt: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.attempt(attempt).map(|(attempted, _)| attempted)
    }

    /// As [`OpenFile::tentative`]; also says what space was taken.
    pub(crate) fn attempt<T, E: From<Error>>(
        &self,
        attempt: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Vec<(Kind, Span)>), E> {
        let store = self.store()?;
        let before = store.changes.load(Ordering::Relaxed);
        store.space.lock().begin_attempt();
        let begun = Begun(store);
        let attempted = attempt();
        std::mem::forget(begun);
        let taken = store.space.lock().end_attempt(attempted.is_err());
        if attempted.is_err() {
            self.forget_waiting(store, &taken);
            store.changes.store(before, Ordering::Relaxed);
        }
        attempted.map(|attempted| (attempted, taken))
    }

    /// To be called in an operation whose changes so far leave the file whole, also without those that follow: if it fails and changed nothing more, the
    /// file is not poisoned. Not within an [attempt](Self::tentative).
    pub fn mark_whole(&self) {
        self.store.iter().for_each(|store| store.whole.store(store.changes.load(Ordering::Relaxed), Ordering::Relaxed));
    }

    /// To be called before anything is changed, and kept until that is done: the file is not closed meanwhile. An error if it is being closed, or
    /// if a forked process is not to change it. A thread that has this must not ask for it again, nor close the file.
    pub fn writing(&self) -> Result<Writing<'_>> {
        self.check_process()?;
        self.store.as_ref().map_or(Ok(Writing::none()), |store| store.gate.pass().ok_or(Error::Closed))
    }

    /// Refuses changes by a process that was forked from the one that opened the file for writing: that one has the lock, and goes on
    /// writing.
    pub fn check_process(&self) -> Result<()> {
        match &self.store {
            Some(store) if !store.process.is_this() => Err(Error::Inherited),
            _ => Ok(()),
        }
    }

    /// Lets no [write](Self::writing) begin any more, and waits for those that go on.
    pub fn shut(&self) {
        self.store.iter().for_each(|store| store.gate.shut());
    }

    /// Writes everything that was changed so far. After this, all of it can be read, whatever happens to this process; and to the power, if
    /// the file's [durability](crate::Durability) says so.
    pub fn flush(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let _alone = store.operation.write();
        self.check_poison()?;
        self.flush_now()?;
        self.hand_over(store)
    }

    /// Refuses a file that cannot be changed: it is only read, or closed, or another process's, or an operation failed in the middle.
    pub fn check_writable(&self) -> Result<()> {
        self.store()?;
        self.check_poison()
    }

    /// Refuses to touch the storage of a file that was closed: another process may have it by now.
    pub(crate) fn check_open(&self, store: &Store) -> Result<()> {
        if store.closed.load(Ordering::Relaxed) { Err(Error::Closed) } else { Ok(()) }
    }

    pub(crate) fn check_poison(&self) -> Result<()> {
        self.check_process()?;
        self.store.iter().try_for_each(|store| self.check_open(store))?;
        self.store.iter().try_for_each(|store| store.check_poison())
    }
}

/// An operation that runs, or a part of it. Forgotten when it ends: if it is dropped, code of the user panicked in the middle.
struct Begun<'a>(&'a Store);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.space.lock().end_attempt(false);
        self.0.poison_by_panic();
    }
}
