//! What can go wrong.

use hyperslab_base::{AnyError, ErrorKind};

use crate::{Event, Phase};

/// The result of anything that this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an entry cannot be encoded or written: a cause of the caller's own.
pub type Failure = AnyError;

/// Why the cache refuses.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such entry.
    #[error("the block at {0:#x} is not in the metadata cache")]
    Absent(u64),
    /// Something is there already.
    #[error("the block at {0:#x} is in the metadata cache already")]
    Present(u64),
    /// An entry of another type.
    #[error("the block at {0:#x} is in the metadata cache as something else")]
    Type(u64),
    /// Dependencies must have an end.
    #[error("the block at {child:#x} depends on the block at {parent:#x} already, which cannot depend on it too")]
    Cycle {
        /// What was to be written later.
        parent: u64,
        /// What was to be written first.
        child: u64,
    },
    /// No such dependency.
    #[error("the block at {parent:#x} does not depend on the block at {child:#x}")]
    Independent {
        /// What would be written later.
        parent: u64,
        /// What would be written first.
        child: u64,
    },
    /// It is being changed or being written.
    #[error("the block at {0:#x} is in use")]
    Busy(u64),
    /// What the table of phases does not allow.
    #[error("an entry that is {phase:?} cannot {event:?}")]
    Phase {
        /// Where it is.
        phase: Phase,
        /// What was asked.
        event: Event,
    },
    /// An entry could not be encoded.
    #[error("the block at {address:#x} cannot be encoded: {why}")]
    Encode {
        /// Which.
        address: u64,
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
