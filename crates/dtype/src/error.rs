//! What can go wrong with a datatype or a conversion.

use hyperslab_base::{AnyError, Classified, ErrorKind, Truncated, memory::OutOfMemory};

/// The result of an operation on datatypes.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a datatype, its bytes or a conversion was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A datatype that the format cannot hold.
    #[error("{what} datatype: {why}")]
    Invalid {
        /// The class of the datatype.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The bytes of a datatype message end early.
    #[error("datatype message: {0}")]
    Truncated(#[from] Truncated),
    /// The bytes are not what the format says.
    #[error("datatype message, at byte {at}: {why}")]
    Decode {
        /// Where in the message.
        at: usize,
        /// What is wrong.
        why: String,
    },
    /// There is no conversion between two datatypes.
    #[error("no conversion from {from} to {to}: {why}")]
    NoConversion {
        /// The datatype the values have.
        from: String,
        /// The datatype they should get.
        to: String,
        /// What stands in the way.
        why: String,
    },
    /// A buffer is too short for the elements it should hold.
    #[error("{count} elements of {size} bytes do not fit the {side} buffer of {bytes} bytes")]
    Buffer {
        /// Source or destination.
        side: &'static str,
        /// How many elements.
        count: usize,
        /// The size of one.
        size: usize,
        /// The length of the buffer.
        bytes: usize,
    },
    /// A variable-length value that does not hold what its reference says.
    #[error("variable-length value: {0}")]
    Sequence(String),
    /// There is not enough memory for variable-length values.
    #[error("variable-length values: {0}")]
    Memory(#[from] OutOfMemory),
    /// The heap of a file failed.
    #[error(transparent)]
    Heap(AnyError),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Invalid { .. } | Error::Buffer { .. } => ErrorKind::InvalidArgument,
            Error::Truncated(_) | Error::Decode { .. } | Error::Sequence(_) => ErrorKind::Malformed,
            Error::NoConversion { .. } => ErrorKind::TypeMismatch,
            Error::Memory(_) => ErrorKind::OutOfMemory,
            Error::Heap(why) => why.kind(),
        }
    }

    pub(crate) fn invalid(what: &'static str, why: impl Into<String>) -> Error {
        Error::Invalid { what, why: why.into() }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}
