//! What can go wrong, and with which object.

/// The result of anything that this crate does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something cannot be done: which object, which structure, where, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file, its storage or a structure of it.
    #[error(transparent)]
    File(#[from] hyperslab_file::Error),
    /// The storage.
    #[error(transparent)]
    Driver(#[from] hyperslab_driver::Error),
    /// The values of a dataset.
    #[error(transparent)]
    Values(#[from] hyperslab_chunk::Error),
    /// A selection.
    #[error(transparent)]
    Space(#[from] hyperslab_space::Error),
    /// A datatype.
    #[error(transparent)]
    Datatype(#[from] hyperslab_dtype::Error),
    /// Bytes of a value that are not what its type says.
    #[error(transparent)]
    Value(#[from] hyperslab_base::Malformed),
    /// A filter.
    #[error(transparent)]
    Filter(#[from] hyperslab_filter::Error),
    /// A name that leads nowhere.
    #[error("there is no {0}")]
    Missing(String),
    /// An object of another kind than was asked for.
    #[error("{path} is a {found}, not a {wanted}")]
    Kind {
        /// Which object.
        path: String,
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// Something that is not there yet.
    #[error("{0} is not supported yet")]
    Unsupported(&'static str),
}
