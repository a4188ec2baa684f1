//! What structures keep in memory between operations, until it is written.

use std::{
    any::Any,
    sync::{Arc, atomic::Ordering},
};

use crate::{Error, OpenFile, Result};

/// More structures than this have nothing in memory after a flush.
const MANY: usize = 256;

/// What is kept of a structure of an open file.
pub trait Attached: Any + Send + Sync {
    /// Called before everything is written: puts into blocks what was only in memory. Lists of free bytes may stay there, unless `all` is to be written: the
    /// file is closed, or too much is in memory.
    fn flush_pending(&self, file: &OpenFile, all: bool) -> Result<()>;
}

impl OpenFile {
    /// What is kept of the structure at `address`.
    pub fn attached<T: Attached>(&self, address: u64) -> Option<Arc<T>> {
        let kept: Arc<dyn Any + Send + Sync> = self.store.as_ref()?.attached.lock().get(&address)?.clone();
        kept.downcast().ok()
    }

    /// Keeps something of the structure at `address`, in place of what was kept of it before.
    pub fn attach(&self, address: u64, kept: Arc<dyn Attached>) -> Result<()> {
        self.store()?.attached.lock().insert(address, kept);
        Ok(())
    }

    /// Counts a change of something that is kept in memory only: an operation that fails after it poisons the file, as after other changes.
    pub fn note_change(&self) -> Result<()> {
        self.store()?.touch();
        Ok(())
    }

    /// Keeps something of the file as a whole, from now on: it puts into blocks what it has before all that is kept of structures does.
    pub fn attach_first(&self, kept: Arc<dyn Attached>) -> Result<()> {
        let taken = |_| Error::Refused("something is kept of the file as a whole already".into());
        self.store()?.attached_first.set(kept).map_err(taken)
    }

    /// Forgets what is kept of the structure at `address`.
    pub fn detach(&self, address: u64) -> Result<()> {
        self.store()?.attached.lock().remove(&address);
        Ok(())
    }

    /// Puts into blocks what structures have in memory only.
    pub(crate) fn flush_pending(&self) -> Result<()> {
        let store = self.store()?;
        let is_closing = store.closing.load(Ordering::Relaxed);
        let before = store.changes.load(Ordering::Relaxed);
        let first = store.attached_first.get().map_or(Ok(()), |kept| kept.flush_pending(self, is_closing));
        if first.is_err() && store.changes.load(Ordering::Relaxed) == before {
            // Nothing was changed: a block could not be read, say. The next flush tries again.
            return first;
        }
        let all: Vec<Arc<dyn Attached>> = store.attached.lock().values().cloned().collect();
        let everything = all.len() > MANY || is_closing;
        let mut all = all.iter();
        let flushed = first.and_then(|()| all.try_for_each(|kept| kept.flush_pending(self, everything)));
        if let Err(why) = &flushed {
            store.poison(why);
        }
        flushed
    }
}
