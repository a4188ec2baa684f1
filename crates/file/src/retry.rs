//! Reading again what another process was just writing.

use std::{thread, time::Duration};

use crate::{Error, Result};

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
        #[cfg(feature = "torn")]
        let attempts = crate::torn::attempts();
        #[cfg(not(feature = "torn"))]
        let attempts = 1;
        Retry { attempts, pause: Duration::ZERO }
    }
}

impl Retry {
    /// Reads until it succeeds, fails in a way that [torn](Error::torn_at) bytes of the block at `address` do not, or was tried often enough. `forget` drops what
    /// caches have of the bytes.
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
                    if !self.pause.is_zero() {
                        thread::sleep(self.pause);
                    }
                }
                done => return done,
            }
        }
        read()
    }
}

impl Error {
    /// Where the block is whose bytes may be of two times, if that can be the reason.
    pub fn torn_at(&self) -> Option<u64> {
        match self {
            Error::Malformed { address, source } if source.fault.may_be_torn() => Some(*address),
            Error::NotHdf5 => Some(0),
            _ => None,
        }
    }
}
