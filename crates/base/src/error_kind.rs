//! Kinds of errors: what a program may want to tell apart.

use std::{error::Error, fmt, io, iter};

/// What went wrong, as far as a program may want to act on it. The error itself says more, in words.
///
/// Each error of Hyperslab has one of these kinds (`kind()`), whichever layer it comes from.
///
/// ```
/// use hyperslab_base::ErrorKind;
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// assert_eq!(ErrorKind::from(&full), ErrorKind::NoSpace);
/// assert_eq!(ErrorKind::NoSpace.to_string(), "no space left");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such file, object, link or attribute.
    NotFound,
    /// The name is taken, or the file is there already.
    AlreadyExists,
    /// The operating system, or a setting such as that for external files, does not allow it.
    PermissionDenied,
    /// The file was opened for reading only, or lies where nothing can be written.
    ReadOnly,
    /// The file was closed, or replaced by a later opening.
    Closed,
    /// The object was deleted since it was opened.
    Deleted,
    /// An operation failed in the middle, so that nothing more is written to the file: close it, and open it again.
    Poisoned,
    /// The file is open elsewhere, in this process or another one, in a way that excludes this one.
    Locked,
    /// There is a file, but not an HDF5 file.
    NotHdf5,
    /// The bytes of the file are not what the format says, or the file ends too early.
    Malformed,
    /// The format or the library has no way to do it, or the file has structures of a newer version.
    Unsupported,
    /// There is no space left for the file: the disk is full, or a limit of its size is reached.
    NoSpace,
    /// There is not enough memory.
    OutOfMemory,
    /// What the caller gave cannot be used: a name, an option, a slice, a number of values.
    InvalidArgument,
    /// A selection is one of another extent than the dataset has, such as one that was made before the dataset was resized.
    ExtentMismatch,
    /// An object of another kind than was asked for: a group that is not a dataset, for example.
    ObjectMismatch,
    /// There is no conversion between the stored datatype and the type that was asked for or given.
    TypeMismatch,
    /// A value that the type on the other side has no value for, such as a string that is not UTF-8 or is too long.
    InvalidValue,
    /// A filter is missing, or cannot encode or decode a chunk.
    Filter,
    /// A path leads through more links than are followed, as links do that lead to each other.
    LinkLoop,
    /// The operating system or the storage failed in another way.
    Io,
    /// The library contradicts itself: an error of its own.
    Internal,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::NotFound => "not found",
            ErrorKind::AlreadyExists => "already exists",
            ErrorKind::PermissionDenied => "permission denied",
            ErrorKind::ReadOnly => "read-only",
            ErrorKind::Closed => "file closed",
            ErrorKind::Deleted => "object deleted",
            ErrorKind::Poisoned => "file unusable after a failed operation",
            ErrorKind::Locked => "file locked",
            ErrorKind::NotHdf5 => "not an HDF5 file",
            ErrorKind::Malformed => "malformed file",
            ErrorKind::Unsupported => "not supported",
            ErrorKind::NoSpace => "no space left",
            ErrorKind::OutOfMemory => "out of memory",
            ErrorKind::InvalidArgument => "invalid argument",
            ErrorKind::ExtentMismatch => "selection of another extent",
            ErrorKind::ObjectMismatch => "object of another kind",
            ErrorKind::TypeMismatch => "no conversion between datatypes",
            ErrorKind::InvalidValue => "invalid value",
            ErrorKind::Filter => "filter failed",
            ErrorKind::LinkLoop => "too many links",
            ErrorKind::Io => "input or output failed",
            ErrorKind::Internal => "internal error",
        })
    }
}

impl From<&io::Error> for ErrorKind {
    fn from(why: &io::Error) -> ErrorKind {
        match why.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                ErrorKind::NoSpace
            }
            io::ErrorKind::OutOfMemory => ErrorKind::OutOfMemory,
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidFilename => ErrorKind::InvalidArgument,
            _ => ErrorKind::Io,
        }
    }
}

/// What the operating system said, if that is why something failed: the first [`io::Error`] among an error and its causes.
pub fn os_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut causes = iter::successors(Some(error), |cause: &&'a (dyn Error + 'static)| (*cause).source());
    causes.find_map(|cause| cause.downcast_ref())
}
