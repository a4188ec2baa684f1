//! What can go wrong below the level of objects.

use hyperslab_base::Malformed;

/// The result of anything that reads a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something of a file cannot be had: which structure, where, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The storage failed, or a range lies outside of it.
    #[error(transparent)]
    Driver(#[from] hyperslab_driver::Error),
    /// Bytes that are not what the format says.
    #[error("at address {address:#x}: {source}")]
    Malformed {
        /// Where the structure is.
        address: u64,
        /// What is wrong with it.
        source: Malformed,
    },
    /// A structure names a place outside of the file.
    #[error("{what} at address {address:#x} with {length} bytes reaches over the end of the file at {end:#x}")]
    Outside {
        /// Which structure.
        what: &'static str,
        /// Where.
        address: u64,
        /// How long.
        length: u64,
        /// Where the file ends.
        end: u64,
    },
    /// There is no memory for a structure.
    #[error("{what} at address {address:#x}: no memory for its {length} bytes")]
    Memory {
        /// Which structure.
        what: &'static str,
        /// Where.
        address: u64,
        /// How long.
        length: u64,
    },
    /// This is no HDF5 file.
    #[error("not an HDF5 file: no signature at bytes 0, 512, 1024, …")]
    NotHdf5,
    /// The file must not be opened now.
    #[error("{0}")]
    Refused(String),
    /// The structures of a file contradict each other.
    #[error("{what} at address {address:#x}: {why}")]
    Broken {
        /// Which structure.
        what: &'static str,
        /// Where.
        address: u64,
        /// Why.
        why: String,
    },
}

impl Error {
    /// A structure that contradicts another.
    pub fn broken(what: &'static str, address: u64, why: impl Into<String>) -> Error {
        Error::Broken { what, address, why: why.into() }
    }

    /// For `map_err`: says where the bytes were.
    pub fn at(address: u64) -> impl Fn(Malformed) -> Error {
        move |source| Error::Malformed { address, source }
    }
}
