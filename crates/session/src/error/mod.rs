//! What can go wrong, and with which object.
//!
//! The text of an error is complete: what was done, where, and why, with the text of its causes in it. [`source()`](std::error::Error::source)
//! leads to these causes by type, down to the [`std::io::Error`] of the operating system if there is one; a program that prints an error prints its
//! text alone. A variant with causes says where they belong, and its [kind](Error::kind) is theirs.
//!
//! Lives here: the error of this crate (`mod`), the words for values whose type does not fit (`mismatch`), files and objects as part of an
//! error (`place`). Does not live here: what the layers below say; each has an error of its own, with the same kinds.

mod lost;
mod mismatch;
mod place;

pub use lost::{Lost, LostParts};
pub(crate) use place::opened;

use std::io;

use hyperslab_base::{AnyError, Classified, ErrorKind, memory::OutOfMemory, os_error};

/// The result of anything that this crate does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something cannot be done: which object, which structure, where, and why.
///
/// ```
/// use hyperslab::{ErrorKind, File};
/// let error = File::open("/there/is/no/run.h5").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert_eq!(error.to_string(), "cannot open /there/is/no/run.h5: No such file or directory (os error 2)");
/// ```
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
    Malformed(#[from] hyperslab_base::Malformed),
    /// A filter.
    #[error(transparent)]
    Filter(#[from] hyperslab_filter::Error),
    /// Something that failed with a file or an object: which one.
    #[error("{place}: {source}")]
    At {
        /// The file or the object; also what was done with it, if it was opened.
        place: String,
        /// What failed.
        source: Box<Error>,
    },
    /// Files that should make one, and do not.
    #[error("{0}")]
    Storage(String),
    /// A file that is open elsewhere in this process, in a way that excludes this one.
    #[error("{0}")]
    Busy(&'static str),
    /// A file that was reached by links, and was opened for writing since.
    #[error("the file was opened for writing since; open the object again")]
    Replaced,
    /// A file that another file names, and that may not be read or written.
    #[error("{0}")]
    Forbidden(String),
    /// A link that cannot be followed.
    #[error("link {link}: {why}")]
    Link {
        /// The link, by its path as far as it was walked.
        link: String,
        /// Why, with the file that it names.
        why: String,
        /// What is wrong with it.
        kind: ErrorKind,
    },
    /// A name that leads nowhere.
    #[error("there is no {0}")]
    Missing(String),
    /// An object that was deleted since it was opened; its address.
    #[error("the object at {0:#x} was deleted")]
    Deleted(u64),
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
    /// Values of a type that the wanted one cannot be made of.
    #[error("values of type {stored} cannot be read as {wanted}: {why}")]
    Mismatch {
        /// The type of the stored values.
        stored: String,
        /// The Rust type asked for.
        wanted: String,
        /// What stands in the way, or what to ask for instead.
        why: String,
    },
    /// Values that a stored type cannot hold.
    #[error("values of type {given} cannot be written as {stored}: {why}")]
    Unstorable {
        /// The type that they should be stored as.
        stored: String,
        /// The Rust type.
        given: String,
        /// What stands in the way, or what to write instead.
        why: String,
    },
    /// A new dataset, or one that changes, that cannot be as it was said to be.
    #[error("dataset: {0}")]
    Create(String),
    /// A name that is taken.
    #[error("{0} exists already; delete it first, or take another name")]
    Exists(String),
    /// Something that cannot be changed so.
    #[error("{0}")]
    Change(String),
    /// An attribute that is not as it was when it was opened.
    #[error("attribute {0} was changed or deleted since it was opened")]
    Outdated(String),
    /// A stored value that is none of the Rust type asked for.
    #[error("{0}")]
    Value(String),
    /// A slice that does not fit the dataset.
    #[error("slice: {0}")]
    Slice(String),
    /// A selection in another extent than the dataset has, such as one that was made before the dataset was resized.
    #[error(
        "the dataset at {dataset:#x} has the extent {extent:?}, but the selection is one of the extent {selection:?}"
    )]
    Extent {
        /// Where the header of the dataset is.
        dataset: u64,
        /// The size of the dataset in each dimension.
        extent: Vec<u64>,
        /// The size of the selection's extent in each dimension.
        selection: Vec<u64>,
    },
    /// More or fewer values than there is room for.
    #[error("{values} values do not fit a place for {room}; both must be equal in number")]
    Length {
        /// How many values there are.
        values: u64,
        /// How many there is room for.
        room: u64,
    },
    /// One of several parts that are read or written together.
    #[error("part {nth} of several: {why}{}", if *.written > 0 { "; the parts before it are written" } else { "" })]
    Part {
        /// Which part, counted from 0.
        nth: usize,
        /// How many parts are written: those before it, or none.
        written: usize,
        /// What is wrong with it.
        #[source]
        why: Box<Error>,
    },
    /// There is not enough memory.
    #[error("there is no memory for {values} values of {size} bytes; read a part at a time")]
    Memory {
        /// How many values.
        values: u64,
        /// The bytes of one.
        size: u64,
    },
    /// Parts of a file that could not be read, so that it is not copied. Its kind and its causes are those of the first of them.
    #[error("not all can be read: {0}")]
    Damaged(#[source] LostParts),
    /// Something that is not there yet.
    #[error("{0} is not supported yet")]
    Unsupported(&'static str),
}

impl From<OutOfMemory> for Error {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Error {
        Error::Memory { values: bytes, size: 1 }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl Error {
    /// What went wrong, for a program that wants to act on it.
    ///
    /// ```
    /// use hyperslab::{ErrorKind, File};
    /// # let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../hyperslab/tests/data/weather.h5"))?;
    /// let humidity = match file.dataset("humidity") {
    ///     Ok(dataset) => Some(dataset),
    ///     Err(why) if why.kind() == ErrorKind::NotFound => None,
    ///     Err(why) => return Err(why),
    /// };
    /// # assert!(humidity.is_none());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::File(why) => why.kind(),
            Error::Driver(why) => why.kind(),
            Error::Values(why) => why.kind(),
            Error::Space(why) => why.kind(),
            Error::Datatype(why) => why.kind(),
            Error::Malformed(why) => why.kind(),
            Error::Filter(why) => why.kind(),
            Error::At { source, .. } | Error::Part { why: source, .. } => source.kind(),
            Error::Link { kind, .. } => *kind,
            Error::Storage(_) => ErrorKind::Malformed,
            Error::Damaged(lost) => lost.kind(),
            Error::Busy(_) => ErrorKind::Locked,
            Error::Replaced => ErrorKind::Closed,
            Error::Forbidden(_) => ErrorKind::PermissionDenied,
            Error::Missing(_) => ErrorKind::NotFound,
            Error::Deleted(_) | Error::Outdated(_) => ErrorKind::Deleted,
            Error::Kind { .. } => ErrorKind::ObjectMismatch,
            Error::Mismatch { .. } | Error::Unstorable { .. } => ErrorKind::TypeMismatch,
            Error::Exists(_) => ErrorKind::AlreadyExists,
            Error::Create(_) | Error::Change(_) | Error::Slice(_) | Error::Length { .. } => ErrorKind::InvalidArgument,
            Error::Value(_) => ErrorKind::InvalidValue,
            Error::Extent { .. } => ErrorKind::ExtentMismatch,
            Error::Memory { .. } => ErrorKind::OutOfMemory,
            Error::Unsupported(_) => ErrorKind::Unsupported,
        }
    }

    /// The number of the system's error, if the system refused something: `ENOENT`, `ENOSPC`, … `EAGAIN` for a file that another process has
    /// locked. [`source()`](std::error::Error::source) leads to the error itself.
    ///
    /// ```
    /// let error = hyperslab::File::open("/there/is/no/such/file").unwrap_err();
    /// assert_eq!(error.raw_os_error(), Some(2)); // ENOENT
    /// ```
    pub fn raw_os_error(&self) -> Option<i32> {
        os_error(self).and_then(io::Error::raw_os_error)
    }

    /// Whether structures for newer libraries could do it.
    pub fn is_too_old(&self) -> bool {
        match self {
            Error::File(hyperslab_file::Error::TooOld(_)) => true,
            Error::At { source, .. } => source.is_too_old(),
            _ => false,
        }
    }

    /// The same, of an object that a path leads to.
    pub fn of(self, path: &[u8]) -> Error {
        match self {
            Error::Kind { found, wanted, .. } => {
                Error::Kind { path: String::from_utf8_lossy(path).into_owned(), found, wanted }
            }
            other => other,
        }
    }

    /// The same, of one of several parts.
    pub fn part(nth: usize, written: usize, why: Error) -> Error {
        Error::Part { nth, written, why: Box::new(why) }
    }

    /// The same, of a source of a virtual dataset.
    pub fn of_source(self) -> hyperslab_chunk::Error {
        match self {
            Error::Values(why) => why,
            why => hyperslab_chunk::Error::SourceFailed(AnyError::from(why)),
        }
    }
}
