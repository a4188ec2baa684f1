//! What can go wrong with bulk values.

/// The result of moving values.
pub type Result<T> = std::result::Result<T, Error>;

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
    /// The layout contradicts itself or the file.
    #[error("layout: {0}")]
    Layout(String),
    /// The dataset behind a part of a virtual one cannot be read.
    #[error("source of a virtual dataset: {0}")]
    Source(String),
    /// An external file cannot be read.
    #[error("external file {name}: {why}")]
    External {
        /// The file.
        name: String,
        /// Why.
        why: String,
    },
    /// There is no memory for the values, or for a chunk of them.
    #[error("no memory for values of {0} bytes")]
    Memory(u64),
}
