//! How large the cache may be, and who leaves first.

use crate::Policy;

/// How many bytes the cache may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// When no request runs: chunks.
    pub quiescent: usize,
    /// At any time: also what requests have on the way between file and chunks.
    pub active: usize,
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
    pub(crate) reserve: usize,
    pub(crate) policy: Policy,
}

impl Default for Config {
    fn default() -> Config {
        Config { bytes: 64 << 20, factor: 2, reserve: 10_000_000, policy: Policy::Lru }
    }
}

impl Config {
    /// What chunks may take when no request runs; 0 turns the cache off.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Config {
        Config { bytes, ..self }
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

    /// Which chunks leave first.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Config {
        Config { policy, ..self }
    }

    /// In bytes.
    pub fn limits(&self) -> Limits {
        Limits { quiescent: self.bytes, active: self.bytes.saturating_mul(self.factor) }
    }
}
