//! What can go wrong with bulk values.

use hyperslab_base::{AnyError, Classified, ErrorKind, memory::OutOfMemory};

/// The result of moving values.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why values cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A structure of the file, or the storage itself.
    #[error(transparent)]
    File(#[from] hyperslab_file::Error),
    /// The storage.
    #[error(transparent)]
    Driver(#[from] hyperslab_driver::Error),
    /// A selection.
    #[error("selection: {0}")]
    Space(#[from] hyperslab_space::Error),
    /// Values that cannot be converted.
    #[error(transparent)]
    Datatype(#[from] hyperslab_dtype::Error),
    /// A selection in another extent than the values have.
    #[error("values of the extent {extent:?}, but a selection of the extent {selection:?}")]
    Extent {
        /// The size of the values in each dimension.
        extent: Vec<u64>,
        /// The size of the selection's extent in each dimension.
        selection: Vec<u64>,
    },
    /// A chunk whose filters cannot be undone.
    #[error("chunk {chunk:?}: {source}")]
    Filter {
        /// The chunk's place in the grid.
        chunk: Vec<u64>,
        /// Which filter, and why.
        source: hyperslab_filter::Error,
    },
    /// A section of a chunk whose filters cannot be undone.
    #[error("chunk {chunk:?}, section {section}: {source}")]
    SectionFilter {
        /// The chunk's place in the grid.
        chunk: Vec<u64>,
        /// The number of the section.
        section: usize,
        /// Which filter, and why.
        source: hyperslab_filter::Error,
    },
    /// A section of a chunk that is malformed.
    #[error("chunk {chunk:?}, section {section}: {why}")]
    Section {
        /// The chunk's place in the grid.
        chunk: Vec<u64>,
        /// The number of the section.
        section: usize,
        /// Why.
        #[source]
        why: AnyError,
    },
    /// The layout contradicts itself or the file.
    #[error("layout: {0}")]
    Layout(String),
    /// The sources of a virtual dataset contradict it, or each other.
    #[error("source of a virtual dataset: {0}")]
    Source(String),
    /// The dataset behind a part of a virtual one cannot be reached, read or written.
    #[error("source of a virtual dataset: {0}")]
    SourceFailed(#[source] AnyError),
    /// An external file cannot be read.
    #[error("external file {name}: {why}")]
    External {
        /// The file.
        name: String,
        /// Why.
        #[source]
        why: AnyError,
    },
    /// There is no memory for the values, or for a chunk of them.
    #[error("no memory for values of {0} bytes")]
    Memory(u64),
    /// Chunks that could not be written. They stay in memory, and the next flush tries again.
    #[error(
        "chunk {chunk:?} of the {dataset} is not stored: {source}{}. What is not stored stays in memory until it is overwritten, discarded, deleted, \
         written by a later flush, or the file is closed",
        and_others(*.more)
    )]
    Unwritten {
        /// The dataset of the first one.
        dataset: String,
        /// Its place in the grid.
        chunk: Vec<u64>,
        /// How many others there are.
        more: usize,
        /// Why the first one could not be written.
        source: Box<Error>,
    },
}

impl Error {
    /// A section of a chunk that is malformed.
    pub(crate) fn section(chunk: &[u64], section: usize, why: impl Into<String>) -> Error {
        Error::Section { chunk: chunk.to_vec(), section, why: AnyError::new(ErrorKind::Malformed, why.into()) }
    }

    /// A section of a chunk whose content is not understood.
    pub(crate) fn of_section(chunk: &[u64], section: usize, why: Error) -> Error {
        Error::Section { chunk: chunk.to_vec(), section, why: AnyError::from(why).of_stored() }
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::File(why) => why.kind(),
            Error::Driver(why) => why.kind(),
            Error::Space(why) => why.kind(),
            Error::Datatype(why) => why.kind(),
            Error::Extent { .. } => ErrorKind::ExtentMismatch,
            Error::Filter { source, .. } | Error::SectionFilter { source, .. } => source.kind(),
            Error::Layout(_) | Error::Source(_) => ErrorKind::Malformed,
            Error::SourceFailed(why) | Error::External { why, .. } | Error::Section { why, .. } => why.kind(),
            Error::Memory(_) => ErrorKind::OutOfMemory,
            Error::Unwritten { source, .. } => source.kind(),
        }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl From<OutOfMemory> for Error {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Error {
        Error::Memory(bytes)
    }
}

fn and_others(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " (and 1 chunk more)".into(),
        more => format!(" (and {more} chunks more)"),
    }
}
