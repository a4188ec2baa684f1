//! What a cache did so far: for all datasets together, or for one.

use std::time::Duration;

/// What the chunk cache did so far, for users to see: for all datasets of a file, or for one.
///
/// All counters go on from zero after a reset; a reset of a file is one of its datasets, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Chunks that were there.
    pub hits: u64,
    /// Chunks that had to be loaded or made.
    pub misses: u64,
    /// Chunks that were read from the file into the cache, also before a program asked for them.
    pub loads: u64,
    /// Chunks that made room for others.
    pub evictions: u64,
    /// Chunks that were written to the file.
    pub written: u64,
    /// Reads and writes of values, or of parts of them, between file and caller, past the cache.
    pub bypasses: u64,
    /// The bytes of these values.
    pub bypassed_bytes: u64,
    /// Chunks that were looked at, most by flushes, to find those that are not in the file.
    pub dirty_visits: u64,
    /// Chunks that were encoded before a request waited for that.
    pub encoded_ahead: u64,
    /// Datasets that chunks may be kept of.
    pub datasets: usize,
    /// What chunks take now, in bytes.
    pub bytes: usize,
    /// The most that was taken; of a file, with what requests had on the way.
    pub peak_bytes: usize,
    /// What chunks may take now, in bytes.
    pub limit: usize,
    /// How long requests waited for chunks to be decoded.
    pub decoding: Duration,
    /// How long they waited for chunks to be encoded.
    pub encoding: Duration,
    /// Waits of threads for chunks that other threads loaded or wrote.
    pub chunk_waits: Waits,
    /// Waits of threads for memory that other requests had.
    pub memory_waits: Waits,
    /// Waits of threads for requests before them that read or wrote the same values of a dataset.
    pub range_waits: Waits,
}

/// How often threads waited, and how long they did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waits {
    /// How often.
    pub count: u64,
    /// How long.
    pub time: Duration,
}
