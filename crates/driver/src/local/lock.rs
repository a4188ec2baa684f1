//! Locks on files, as libhdf5 takes them: advisory, on the whole file, held as long as the file is open.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Local, holder};
use crate::{Operation, Result, Why};

/// What Linux says of file systems over a network whose server has no locks; the value is missing from the system's headers.
const NOT_SUPPORTED_BY_SERVER: i32 = 524;

/// What a lock lets others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Others may read.
    Shared,
    /// No other process may open the file.
    Exclusive,
}

impl Local {
    /// Locks the file against other processes until it is dropped. An error if one of them has it open in a way that does not go with this;
    /// false if the file system has no locks.
    ///
    /// ```
    /// use hyperslab_driver::{Local, Lock};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-lock-{}", std::process::id()));
    /// let writer = Local::options().create(true).open(&path)?;
    /// if writer.lock(Lock::Exclusive)? {
    ///     assert!(Local::open(&path)?.lock(Lock::Shared).is_err());
    /// }
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self, lock: Lock) -> Result<bool> {
        if !self.process.is_this() {
            // A process shares its locks with those that are forked from it.
            return Err(self.fail(Operation::Open, 0, 0, Why::Inherited));
        }
        let operation = match lock {
            Lock::Shared => FlockOperation::NonBlockingLockShared,
            Lock::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        match flock(self.file.file(), operation) {
            Ok(()) => Ok(true),
            Err(error @ Errno::WOULDBLOCK) => {
                let holders = holder::names(self.stamp.identity());
                Err(self.fail(Operation::Open, 0, 0, Why::Locked { holders, source: error.into() }))
            }
            Err(error) if has_no_locks(error) => Ok(false),
            Err(other) => Err(self.fail(Operation::Open, 0, 0, std::io::Error::from(other))),
        }
    }

    /// Lets others open the file as they like. A process that was forked from the one that locked the file changes nothing.
    pub fn unlock(&self) -> Result<()> {
        if !self.process.is_this() {
            return Ok(());
        }
        match flock(self.file.file(), FlockOperation::Unlock) {
            Ok(()) => Ok(()),
            Err(error) if has_no_locks(error) => Ok(()),
            Err(other) => Err(self.fail(Operation::Open, 0, 0, std::io::Error::from(other))),
        }
    }
}

/// Whether an error means that the file system has no locks.
fn has_no_locks(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::NOTSUP | Errno::NOLCK) || error.raw_os_error() == NOT_SUPPORTED_BY_SERVER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_mean_no_locks() {
        assert!(
            [Errno::NOSYS, Errno::NOTSUP, Errno::NOLCK, Errno::from_raw_os_error(524)]
                .map(has_no_locks)
                .iter()
                .all(|no| *no)
        );
        assert!(!has_no_locks(Errno::WOULDBLOCK) && !has_no_locks(Errno::IO));
    }
}
