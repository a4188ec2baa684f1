//! The lock on a file, held as long as the file has openings.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use hyperslab_driver::{Error as DriverError, FileIdentity, FileStamp, Local, Lock, Operation, Why};

use crate::{Locking, Result, options::Access};

/// A file and its lock.
pub(crate) struct Hold {
    local: Arc<Local>,
    lock: Lock,
    locking: Locking,
    is_locked: AtomicBool,
    /// What the file was like before anything of it was read; nothing if a change since might not show.
    seen: Option<FileStamp>,
}

/// Two changes of a file within this time may have the same time stamp.
const CLOCK_STEP: Duration = Duration::from_millis(20);

impl Hold {
    /// Locks a file as it is to be opened.
    pub(super) fn new(local: Arc<Local>, access: &Access) -> Result<Hold> {
        let (lock, locking) =
            (if access.write { Lock::Exclusive } else { Lock::Shared }, access.locking.in_environment());
        let (seen, is_locked) = (Some(local.stamp()).filter(is_settled), AtomicBool::new(false));
        let hold = Hold { local, lock, locking, is_locked, seen };
        hold.lock()?;
        Ok(hold)
    }

    /// Whether the file is locked: then no other process writes it.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_locked.load(Ordering::Acquire)
    }

    /// How it was to be locked.
    pub(crate) fn locking(&self) -> Locking {
        self.locking
    }

    pub(crate) fn identity(&self) -> FileIdentity {
        self.local.stamp().identity()
    }

    /// Locks the file, unless it is not to be locked.
    pub(crate) fn lock(&self) -> Result<()> {
        if self.locking == Locking::Disabled {
            return Ok(());
        }
        let is_locked = self.local.lock(self.lock)?;
        if !is_locked && self.locking == Locking::Required {
            let name = hyperslab_driver::Driver::name(&*self.local);
            return Err(DriverError::new(name, Operation::Open, 0, 0, Why::NoLocks).into());
        }
        self.is_locked.store(is_locked, Ordering::Release);
        Ok(())
    }

    /// Lets other processes open the file as they like.
    pub(crate) fn release(&self) -> Result<()> {
        if self.is_locked.swap(false, Ordering::AcqRel) { Ok(self.local.unlock()?) } else { Ok(()) }
    }

    /// Locks the file once more; false if the file at this path is another one by now, or was changed since it was opened.
    pub(crate) fn lock_unchanged(&self, path: &Path) -> Result<bool> {
        self.lock()?;
        if self.seen.is_some() && FileStamp::of_path(path).ok() == self.seen {
            return Ok(true);
        }
        self.release()?;
        Ok(false)
    }
}

/// Whether a change of the file from now on has another time stamp.
fn is_settled(stamp: &FileStamp) -> bool {
    stamp
        .modified()
        .is_some_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age > CLOCK_STEP))
}
