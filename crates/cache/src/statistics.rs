//! What the cache did so far.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// What the cache did so far, for users to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Chunks that were there.
    pub hits: u64,
    /// Chunks that had to be loaded or made.
    pub misses: u64,
    /// Chunks that made room for others.
    pub evictions: u64,
    /// Chunks that were written to the file.
    pub written: u64,
    /// Chunks that were looked at, most by flushes, to find those that are not in the file.
    pub dirty_visits: u64,
    /// Chunks that were encoded before a request waited for that.
    pub encoded_ahead: u64,
    /// Datasets that chunks may be kept of.
    pub datasets: usize,
    /// What chunks take now, in bytes.
    pub bytes: usize,
    /// The most that was taken, with what requests had on the way.
    pub peak_bytes: usize,
    /// What chunks may take now, in bytes.
    pub limit: usize,
    /// How long requests waited for chunks to be decoded.
    pub decoding: Duration,
    /// How long they waited for chunks to be encoded.
    pub encoding: Duration,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) evictions: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) dirty_visits: AtomicU64,
    pub(crate) encoded_ahead: AtomicU64,
    /// In nanoseconds.
    pub(crate) decoding: AtomicU64,
    pub(crate) encoding: AtomicU64,
}

impl Counters {
    pub(crate) fn statistics(&self, taken: (usize, usize), limit: usize) -> Statistics {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (hits, misses, dirty_visits) = (of(&self.hits), of(&self.misses), of(&self.dirty_visits));
        let (evictions, written, encoded_ahead) = (of(&self.evictions), of(&self.written), of(&self.encoded_ahead));
        let (decoding, encoding) = (Duration::from_nanos(of(&self.decoding)), Duration::from_nanos(of(&self.encoding)));
        let (bytes, peak_bytes) = taken;
        let sizes = Statistics { bytes, peak_bytes, limit, decoding, encoding, ..Statistics::default() };
        Statistics { hits, misses, evictions, written, dirty_visits, encoded_ahead, ..sizes }
    }
}

pub(crate) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}
