//! What can go wrong.

use hyperslab_base::{AnyError, ErrorKind};

use crate::{Event, Key, Phase};

/// The result of anything that this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an entry cannot be encoded or written: a cause of the caller's own.
pub type Failure = AnyError;

/// Why the cache refuses.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such entry.
    #[error("{0:?} is not in the metadata cache")]
    Absent(Key),
    /// Something is there already.
    #[error("{0:?} is in the metadata cache already")]
    Present(Key),
    /// An entry of another type.
    #[error("{0:?} is in the metadata cache as something else")]
    Type(Key),
    /// Dependencies must have an end.
    #[error("{child:?} depends on {parent:?} already, which cannot depend on it too")]
    Cycle {
        /// What was to be written later.
        parent: Key,
        /// What was to be written first.
        child: Key,
    },
    /// No such dependency.
    #[error("{parent:?} does not depend on {child:?}")]
    Independent {
        /// What would be written later.
        parent: Key,
        /// What would be written first.
        child: Key,
    },
    /// Somebody holds it.
    #[error("{0:?} is in use")]
    Busy(Key),
    /// What the table of phases does not allow.
    #[error("an entry that is {phase:?} cannot {event:?}")]
    Phase {
        /// Where it is.
        phase: Phase,
        /// What was asked.
        event: Event,
    },
    /// An entry could not be encoded.
    #[error("{key:?} cannot be encoded: {why}")]
    Encode {
        /// Which.
        key: Key,
        /// Why.
        #[source]
        why: Failure,
    },
    /// The file could not be written; what was dirty still is.
    #[error("metadata cannot be written: {0}")]
    Write(#[source] Failure),
    /// A block could not be loaded.
    #[error(transparent)]
    Load(Failure),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Encode { why, .. } | Error::Write(why) | Error::Load(why) => why.kind(),
            _ => ErrorKind::Internal,
        }
    }
}
