//! How large the cache may be, and who leaves first.

use std::sync::OnceLock;

use crate::{Policy, ReadAhead};

/// How many bytes the cache may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// When no request runs: chunks.
    pub quiescent: usize,
    /// At any time: also what requests have on the way between file and chunks.
    pub active: usize,
}

/// Between which sizes a cache finds its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) smallest: usize,
    pub(crate) largest: usize,
}

impl Range {
    pub(crate) fn clamp(&self, bytes: usize) -> usize {
        bytes.clamp(self.smallest, self.largest)
    }
}

/// How a cache is made.
///
/// ```
/// use hyperslab_cache::{Config, Policy};
/// let config = Config::default().bytes(16 << 20).policy(Policy::S3Fifo);
/// assert_eq!(config.limits().active, 32 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    bytes: usize,
    factor: usize,
    pub(crate) range: Option<Range>,
    pub(crate) reserve: usize,
    pub(crate) dataset_limit: usize,
    pub(crate) policy: Policy,
    read_ahead: ReadAhead,
    encode_ahead: bool,
}

impl Default for Config {
    fn default() -> Config {
        let (range, policy, read_ahead, encode_ahead) = (None, Policy::Lru, ReadAhead::Automatic, true);
        let (reserve, dataset_limit) = (10_000_000, usize::MAX);
        Config { bytes: 64 << 20, factor: 2, range, reserve, dataset_limit, policy, read_ahead, encode_ahead }
    }
}

impl Config {
    /// What files have for which nothing is said: the usual settings, and as many bytes as `HYPERSLAB_CACHE_BYTES` of the environment says,
    /// for programs that are not to be changed. So the same tests run with caches of any size.
    pub fn from_environment() -> Config {
        static BYTES: OnceLock<Option<usize>> = OnceLock::new();
        let bytes = BYTES.get_or_init(|| std::env::var("HYPERSLAB_CACHE_BYTES").ok()?.parse().ok());
        bytes.map_or_else(Config::default, |bytes| Config::default().bytes(bytes))
    }

    /// What chunks may take when no request runs; 0 turns the cache off.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Config {
        Config { bytes, ..self }
    }

    /// Between which sizes the cache finds its own, from the one on that it is given; not less than a 64th of the largest. It grows when chunks come back that a
    /// larger one would still have, and shrinks when far less is used for a while.
    #[must_use]
    pub fn adaptive(self, smallest: usize, largest: usize) -> Config {
        let largest = largest.max(smallest);
        Config { range: Some(Range { smallest: smallest.max(largest / 64), largest }), ..self }
    }

    /// How many times that may be taken at any time: 2 by default, and at least.
    #[must_use]
    pub fn active_factor(self, factor: usize) -> Config {
        Config { factor: factor.max(2), ..self }
    }

    /// What a dataset keeps while others have more.
    #[must_use]
    pub fn reserve(self, bytes: usize) -> Config {
        Config { reserve: bytes, ..self }
    }

    /// What chunks of one dataset may take, if it is less than what all may: a dataset at its limit lets its own chunks go, not those of others. 0 keeps
    /// datasets out of the cache unless they have a limit of their own.
    #[must_use]
    pub fn dataset_limit(self, bytes: usize) -> Config {
        Config { dataset_limit: bytes, ..self }
    }

    /// Which chunks leave first.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Config {
        Config { policy, ..self }
    }

    /// Whether chunks that a program will want next, if it goes on as it did, are read and decoded while it does something else, and how many: so by default, as
    /// many as the storage needs.
    #[must_use]
    pub fn read_ahead(self, read_ahead: impl Into<ReadAhead>) -> Config {
        Config { read_ahead: read_ahead.into(), ..self }
    }

    /// How much is read ahead of time.
    pub fn reads_ahead(&self) -> ReadAhead {
        self.read_ahead
    }

    /// Whether changed chunks that must leave soon go through their filters in the background, before a request waits for their place: so by default. Programs
    /// that use all cores themselves, or that want the same requests to the storage in every run, may turn it off.
    #[must_use]
    pub fn encode_ahead(self, encode_ahead: bool) -> Config {
        Config { encode_ahead, ..self }
    }

    /// Whether chunks are encoded ahead of time.
    pub fn encodes_ahead(&self) -> bool {
        self.encode_ahead
    }

    /// In bytes.
    pub fn limits(&self) -> Limits {
        let bytes = self.range.map_or(self.bytes, |range| range.clamp(self.bytes));
        Limits { quiescent: bytes, active: bytes.saturating_mul(self.factor) }
    }
}
