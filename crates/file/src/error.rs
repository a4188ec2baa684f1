//! What can go wrong below the level of objects.

use std::io;

use hyperslab_base::{AnyError, Classified, ErrorKind, Malformed, Unfit};

/// The result of anything that reads a file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

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
    /// A structure whose content cannot be decoded: by its filters, or as a datatype or an extent.
    #[error("{what} at address {address:#x}: {source}")]
    Undecoded {
        /// Which structure.
        what: &'static str,
        /// Where its stored bytes are.
        address: u64,
        /// Why.
        source: AnyError,
        /// Whether stored bytes of two times may be why.
        may_be_torn: bool,
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
    /// A value that its place in the file cannot hold.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// There is no space left in the file.
    #[error(transparent)]
    Space(#[from] hyperslab_alloc::Error),
    /// The blocks that wait to be written are in disorder, or could not be written.
    #[error(transparent)]
    Blocks(#[from] hyperslab_meta::Error),
    /// The file was opened for reading.
    #[error("the file was opened for reading only: open it for writing to change it")]
    ReadOnly,
    /// The file was closed through another handle.
    #[error("the file was closed")]
    Closed,
    /// A change by a process that was forked from the one that opened the file.
    #[error(
        "the process that this one was forked from has the file open for writing, so it can only be read here: open it in this process to \
         change it"
    )]
    Inherited,
    /// An operation failed in the middle.
    #[error(
        "nothing more is written to the file, which is as it was at the last flush, since an operation failed in the middle: {why}. \
         Close it, and open it again to go on from there"
    )]
    Poisoned {
        /// Why that operation failed.
        why: String,
        /// What the operating system said to it, if it did.
        source: Option<io::Error>,
    },
    /// This is no HDF5 file.
    #[error("not an HDF5 file: no signature at bytes 0, 512, 1024, …")]
    NotHdf5,
    /// An object that was deleted since it was opened.
    #[error("the object at address {0:#x} was deleted")]
    Deleted(u64),
    /// A mark in the file says that a process has it open.
    #[error("{0}")]
    Marked(&'static str),
    /// A file that lost its end.
    #[error("the file is truncated: it has {length} bytes, its superblock says {end}")]
    Truncated {
        /// How many bytes it has.
        length: u64,
        /// How many it should have.
        end: u64,
    },
    /// A name that is taken.
    #[error("there is {0} already")]
    Exists(String),
    /// A name that leads nowhere.
    #[error("there is no {0}")]
    Missing(String),
    /// What cannot be done with this file or this object.
    #[error("{0}")]
    Refused(String),
    /// What a layer above says that the file called.
    #[error(transparent)]
    Above(AnyError),
    /// What structures of old versions cannot hold, and those of newer ones can.
    #[error("{0}: make the file for newer libraries")]
    TooOld(String),
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
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Driver(why) => why.kind(),
            Error::Malformed { source, .. } => source.kind(),
            Error::Undecoded { source, .. } => source.kind(),
            Error::Outside { .. } | Error::Truncated { .. } | Error::Broken { .. } => ErrorKind::Malformed,
            Error::Memory { .. } => ErrorKind::OutOfMemory,
            Error::Unfit(_) | Error::Refused(_) => ErrorKind::InvalidArgument,
            Error::Space(why) => why.kind(),
            Error::Above(why) => why.kind(),
            Error::Blocks(why) => why.kind(),
            Error::ReadOnly | Error::Inherited => ErrorKind::ReadOnly,
            Error::Closed => ErrorKind::Closed,
            Error::Poisoned { .. } => ErrorKind::Poisoned,
            Error::NotHdf5 => ErrorKind::NotHdf5,
            Error::Deleted(_) => ErrorKind::Deleted,
            Error::Marked(_) => ErrorKind::Locked,
            Error::Exists(_) => ErrorKind::AlreadyExists,
            Error::Missing(_) => ErrorKind::NotFound,
            Error::TooOld(_) => ErrorKind::Unsupported,
        }
    }

    /// A structure that contradicts another.
    pub fn broken(what: &'static str, address: u64, why: impl Into<String>) -> Error {
        Error::Broken { what, address, why: why.into() }
    }

    /// For `map_err`: says where the bytes were.
    pub fn at(address: u64) -> impl Fn(Malformed) -> Error {
        move |source| Error::Malformed { address, source }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}
