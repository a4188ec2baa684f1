//! Test runs whose reads of metadata are torn (feature `torn`): `HYPERSLAB_TEAR=n` tears every n-th block that has something to be noticed by.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use hyperslab_driver::Missing;

use crate::Seal;

/// Blocks that were read.
static READS: AtomicU64 = AtomicU64::new(0);

/// Every how many blocks one is torn; none if the environment does not say.
fn every() -> Option<u64> {
    static EVERY: OnceLock<Option<u64>> = OnceLock::new();
    *EVERY.get_or_init(|| std::env::var("HYPERSLAB_TEAR").ok()?.parse().ok().filter(|&every| every > 1))
}

/// How often a block is read at most when reads are torn.
pub(crate) fn attempts() -> u32 {
    if every().is_some() { 32 } else { 1 }
}

/// Tears the bytes of a block, if it is its turn; whether that must be noticed.
pub(crate) fn tear(seal: Seal, bytes: &mut [u8]) -> bool {
    let nth = READS.fetch_add(1, Ordering::Relaxed);
    if every().is_none_or(|every| nth % every != 0) {
        return false;
    }
    match seal {
        // Behind signature and version, so that the checksum is what tells.
        Seal::Checksum if nth % 2 == 0 => Missing::All.tear(bytes.get_mut(5..).unwrap_or_default()),
        Seal::Checksum => Missing::Front.tear(bytes),
        Seal::Signature => Missing::All.tear(bytes),
        Seal::None => false,
    }
}
