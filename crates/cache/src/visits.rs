//! Those who have chunks in hand without a promise: readers of what is in memory anyway, whoever writes chunks out, and chunks that are about to leave.
//!
//! They wait for nobody, so whoever waits for room waits for them. Two numbers that only grow tell all that must be known, without a lock that all readers
//! would meet at.

use crate::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Visits {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Visits {
    /// Some begin. To be said before a chunk is in hand, or while nobody else can see that it is.
    pub(super) fn begin(&self, count: u64) {
        self.begun.fetch_add(count, Ordering::SeqCst);
    }

    /// Some end. To be said when the chunk is no longer in hand.
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
