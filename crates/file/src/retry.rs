//! Reading again what another process was just writing.

use std::{thread, time::Duration};

use crate::{Error, Result, torn};

/// How often a block is read until its bytes belong together.
///
/// A process that writes a block while this one reads it may leave parts of two times in one read. Signature, length and checksum tell. By default
/// each block is read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The most times that a block is read; once at least.
    pub attempts: u32,
    /// How long a thread sleeps between two of them.
    pub pause: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: torn::attempts(), pause: Duration::ZERO }
    }
}

impl Retry {
    /// Reads until it succeeds, fails in a way that [torn](Error::torn_at) bytes of the block at `address` do not, or was tried often enough. `forget` drops what
    /// caches have of the bytes.
    #[inline]
    pub(crate) fn run<T>(
        self,
        address: u64,
        mut read: impl FnMut() -> Result<T>,
        mut forget: impl FnMut(),
    ) -> Result<T> {
        for _ in 1..self.attempts {
            match read() {
                Err(why) if why.torn_at() == Some(address) => {
                    forget();
                    self.sleep();
                }
                done => return done,
            }
        }
        torn::spare(read)
    }

    /// Looks for what the last program may have left behind the end of the file, until it is found or was looked for often enough: bytes that do not belong
    /// together are nothing. `forget` drops what caches have of the bytes.
    pub(crate) fn find<T>(
        self,
        mut find: impl FnMut() -> Result<Option<T>>,
        mut forget: impl FnMut(),
    ) -> Result<Option<T>> {
        for _ in 1..self.attempts {
            match find()? {
                None => {
                    forget();
                    self.sleep();
                }
                found => return Ok(found),
            }
        }
        find()
    }

    fn sleep(self) {
        if !self.pause.is_zero() {
            thread::sleep(self.pause);
        }
    }
}

impl Error {
    /// Where the block is whose bytes may be of two times, if that can be the reason.
    pub fn torn_at(&self) -> Option<u64> {
        match self {
            Error::Malformed { address, source } if source.fault.may_be_torn() => Some(*address),
            Error::Undecoded { address, may_be_torn: true, .. } => Some(*address),
            Error::NotHdf5 => Some(0),
            _ => None,
        }
    }
}
