//! What the chunks of one dataset take of the cache, and what they may take.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The share of a dataset. Its limit holds beside those of the cache: whatever comes is claimed before, and chunks of the dataset itself make room for it.
///
/// No thread waits for a share. If all that a dataset has is pinned, what comes goes past the cache.
#[derive(Debug)]
pub(crate) struct Share {
    limit: AtomicUsize,
    /// What its chunks take.
    bytes: AtomicUsize,
    /// The most that they took.
    peak: AtomicUsize,
    /// What chunks will take that are being loaded or made.
    claimed: AtomicUsize,
}

impl Share {
    pub(crate) fn new(limit: usize) -> Share {
        let (bytes, peak, claimed) = Default::default();
        Share { limit: AtomicUsize::new(limit), bytes, peak, claimed }
    }

    /// What chunks take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The most that they took.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Forgets the most that was taken before now.
    pub(crate) fn reset_peak(&self) {
        self.peak.store(self.bytes(), Ordering::Relaxed);
    }

    /// What they may take.
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// A chunk takes more, or less.
    pub(crate) fn recount(&self, before: usize, after: usize) {
        if after > before {
            let now = self.bytes.fetch_add(after - before, Ordering::Relaxed) + (after - before);
            self.peak.fetch_max(now, Ordering::Relaxed);
        } else {
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// How many bytes must leave so that so many can come.
    pub(crate) fn excess(&self, more: usize) -> usize {
        let claimed = self.claimed.load(Ordering::Acquire);
        self.bytes().saturating_add(claimed).saturating_add(more).saturating_sub(self.limit())
    }

    /// So many bytes for chunks that come, if they are within the limit.
    pub(crate) fn try_claim(&self, bytes: usize) -> Option<Claim<'_>> {
        if self.limit() == usize::MAX {
            return Some(Claim { share: self, bytes: 0 });
        }
        // A claim that has ended is seen with the chunks that it was for, and of two that come at once the later one sees both.
        self.claimed.fetch_add(bytes, Ordering::AcqRel);
        let claim = Claim { share: self, bytes };
        (self.excess(0) == 0).then_some(claim)
    }
}

/// Bytes for chunks that come. They count until this is dropped, when the chunks are there and count themselves.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    share: &'a Share,
    bytes: usize,
}

impl Claim<'_> {
    /// Claims more, if the share has so much.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> bool {
        let more = self.share.try_claim(bytes);
        let grown = more.is_some();
        if let Some(mut more) = more {
            self.bytes += std::mem::take(&mut more.bytes);
        }
        grown
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.share.claimed.fetch_sub(self.bytes, Ordering::AcqRel);
        }
    }
}
