//! What can go wrong in a pipeline, and in one filter of it.

use hyperslab_base::{Classified, ErrorKind, Truncated, memory::OutOfMemory};

use crate::known_name;

/// The result of a pipeline.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a chunk could not be decoded or encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A filter that is not registered.
    #[error("{}", missing(*id, name))]
    Missing {
        /// The number of the filter in the file.
        id: u16,
        /// The name of the filter in the file, if it has one.
        name: String,
    },
    /// A filter failed.
    #[error("filter {id} ({name}), step {step} of the pipeline: {fault}")]
    Failed {
        /// Which step of the pipeline, counted from 0.
        step: usize,
        /// The number of the filter.
        id: u16,
        /// The name of the filter.
        name: &'static str,
        /// What it says.
        #[source]
        fault: Fault,
    },
    /// The pipeline did not give what the chunk must have.
    #[error("the chunk decodes to {found} bytes where {expected} are expected")]
    Length {
        /// The size of the chunk.
        expected: usize,
        /// The bytes that came out.
        found: usize,
    },
    /// There is no memory for the chunk.
    #[error("no memory for a chunk of {0} bytes")]
    Memory(usize),
    /// More filters than a filter mask has bits.
    #[error("a pipeline has at most 32 filters, not {0}")]
    Steps(usize),
}

/// Why one filter failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Parameters that the filter cannot work with.
    #[error("bad parameters: {0}")]
    Params(&'static str),
    /// Bytes that the encoder cannot have written.
    #[error("corrupt data: {0}")]
    Corrupt(&'static str),
    /// Something that the format has and this filter does not.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// The data ends early.
    #[error("corrupt data: {0}")]
    Truncated(#[from] Truncated),
    /// The data grows over what there is room for.
    #[error("the data decodes to more than {0} bytes")]
    TooLong(usize),
    /// There is no memory for the data.
    #[error("no memory for {0} bytes")]
    Memory(usize),
    /// The checksum is not that of the data.
    #[error("the stored checksum {stored:#010x} is not that of the data, {computed:#010x}")]
    Checksum {
        /// What the file says.
        stored: u32,
        /// What the data gives.
        computed: u32,
    },
    /// A mandatory filter that cannot make the data smaller, where its format has no other way.
    #[error("the data does not get smaller, and this mandatory filter cannot store it as it is")]
    Incompressible,
    /// Whatever else a library or a registered filter says.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// What went wrong: not enough memory, too many filters, or else a filter.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Memory(_) | Error::Failed { fault: Fault::Memory(_), .. } => ErrorKind::OutOfMemory,
            Error::Steps(_) => ErrorKind::InvalidArgument,
            Error::Missing { .. } | Error::Failed { .. } | Error::Length { .. } => ErrorKind::Filter,
        }
    }

    /// Whether it depends on the data: other data might be decoded by the same filters with the same memory.
    pub fn is_of_data(&self) -> bool {
        match self {
            Error::Failed { fault, .. } => !matches!(fault, Fault::Memory(_) | Fault::Params(_)),
            Error::Length { .. } => true,
            Error::Missing { .. } | Error::Memory(_) | Error::Steps(_) => false,
        }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl From<OutOfMemory> for Fault {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Fault {
        Fault::Memory(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

impl Fault {
    /// The fault that a library reports.
    pub(crate) fn other(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
        Fault::Other(Box::new(error))
    }
}

fn missing(id: u16, name: &str) -> String {
    let called = match (known_name(id), name) {
        (Some(known), "") => format!(" ({known})"),
        (Some(known), name) => format!(" ({known}, in the file \"{name}\")"),
        (None, "") => String::new(),
        (None, name) => format!(" (in the file \"{name}\", not a number known to us)"),
    };
    format!("the data needs filter {id}{called}, which is not built in; register one with `Registry::register`")
}
