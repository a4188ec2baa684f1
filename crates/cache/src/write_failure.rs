//! Chunks that could not be written: they stay in memory, dirty, and count against the limits.

/// Whether another attempt to write a chunk may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteFailure {
    /// Not before the chunk is changed: a mandatory filter refuses its values. Eviction passes it by until then.
    Permanent,
    /// When the storage or the memory has recovered: eviction passes it by until [`Cache::retry_failed`](crate::Cache::retry_failed).
    Transient,
}

/// What chunks add to the account of those that cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unwritable {
    /// What they take.
    pub(crate) bytes: usize,
    /// How many of them may be written by another attempt.
    pub(crate) transient: usize,
}

impl Unwritable {
    pub(crate) fn new(failure: Option<WriteFailure>, bytes: usize) -> Unwritable {
        match failure {
            None => Unwritable::default(),
            Some(failure) => Unwritable { bytes, transient: usize::from(failure == WriteFailure::Transient) },
        }
    }
}
