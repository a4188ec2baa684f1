//! Pins without a reservation: cache hits, write-backs and evictions.
//!
//! Their threads never wait, so a thread that waits for memory may wait for them. Two numbers that only grow tell all that must be known, without a lock that all readers
//! would meet at.

use crate::sync::atomic::{AtomicU64, Ordering};

/// How many pins without a reservation have begun and ended.
#[derive(Debug, Default)]
pub(crate) struct UnreservedPins {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl UnreservedPins {
    /// Some begin. To be said before a chunk is pinned, or while no other thread can see that it is.
    pub(super) fn begin(&self, count: u64) {
        self.begun.fetch_add(count, Ordering::SeqCst);
    }

    /// Some end. To be said when the chunk is no longer pinned.
    pub(super) fn end(&self, count: u64) {
        self.ended.fetch_add(count, Ordering::SeqCst);
    }

    /// How many have ended: if there are more later, something may have become free meanwhile.
    pub(super) fn ended(&self) -> u64 {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether there was none at any time since `seen` had ended. None has ended since, and as many have begun as had ended: then no others have begun
    /// either.
    pub(super) fn were_none_since(&self, seen: u64) -> bool {
        // In this order: one that begins in between is seen, or is later than the answer.
        self.ended() == seen && self.begun.load(Ordering::SeqCst) == seen
    }
}
