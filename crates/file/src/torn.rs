//! Test runs whose reads of metadata are torn (feature `torn`): `HYPERSLAB_TEAR=n` tears every n-th block that has something to be noticed by.
//!
//! Blocks are torn where they are verified, behind all caches of bytes: there it is known by what a tear can be noticed. Without the feature, nothing here happens.

use crate::{Error, Result};

#[cfg(feature = "torn")]
pub(crate) use on::{attempts, spare, tear};

/// How often a block is read at most, where no policy is set.
#[cfg(not(feature = "torn"))]
pub(crate) fn attempts() -> u32 {
    1
}

/// The last attempt to read a block.
#[cfg(not(feature = "torn"))]
#[inline]
pub(crate) fn spare<T>(mut read: impl FnMut() -> T) -> T {
    read()
}

/// Tears the bytes of a block, if it is its turn; whether that must be noticed.
#[cfg(not(feature = "torn"))]
#[inline]
pub(crate) fn tear(_: crate::Seal, _: &mut [u8]) -> bool {
    false
}

/// Refuses a block that passed all checks though it was torn.
#[inline]
pub(crate) fn check_noticed(is_torn: bool, what: &'static str, address: u64) -> Result<()> {
    match is_torn {
        false => Ok(()),
        true => Err(Error::broken(what, address, "its bytes were torn, and no check failed")),
    }
}

#[cfg(feature = "torn")]
mod on {
    use std::{
        cell::Cell,
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering},
        },
    };

    use hyperslab_driver::Missing;

    use crate::Seal;

    /// More than threads that read side by side can tear in a row.
    const ATTEMPTS: u32 = 32;

    /// Blocks that were read.
    static READS: AtomicU64 = AtomicU64::new(0);

    /// Every how many blocks one is torn; none if the environment does not say.
    fn every() -> Option<u64> {
        static EVERY: OnceLock<Option<u64>> = OnceLock::new();
        *EVERY.get_or_init(|| std::env::var("HYPERSLAB_TEAR").ok()?.parse().ok().filter(|&every| every > 1))
    }

    pub(crate) fn attempts() -> u32 {
        if every().is_some() { ATTEMPTS } else { 1 }
    }

    thread_local! {
        /// Whether this thread makes the last attempt to read a block.
        static IS_SPARED: Cell<bool> = const { Cell::new(false) };
    }

    /// The last attempt to read a block, which is not torn, so that a block that is damaged for good tells its own fault.
    pub(crate) fn spare<T>(mut read: impl FnMut() -> T) -> T {
        let was_spared = IS_SPARED.replace(true);
        let done = read();
        IS_SPARED.set(was_spared);
        done
    }

    pub(crate) fn tear(seal: Seal, bytes: &mut [u8]) -> bool {
        let Some(every) = every().filter(|_| seal != Seal::None && !IS_SPARED.get()) else { return false };
        let nth = READS.fetch_add(1, Ordering::Relaxed);
        if !nth.is_multiple_of(every) {
            return false;
        }
        match seal {
            // Behind signature and version, so that the checksum is what tells.
            Seal::Checksum if (nth / every).is_multiple_of(2) => {
                Missing::All.tear(bytes.get_mut(5..).unwrap_or_default())
            }
            Seal::Checksum => Missing::Front.tear(bytes),
            Seal::Signature => Missing::All.tear(bytes),
            Seal::None => false,
        }
    }
}
