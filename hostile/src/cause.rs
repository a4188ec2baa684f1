//! What an error is about, as its types tell: which structure of the file, which section of which chunk.

use hyperslab::Error;
use hyperslab_chunk::Error as ChunkError;
use hyperslab_file::Error as FileError;

/// The error of the file layer behind an error, if that is its cause.
pub fn file_error(why: &Error) -> Option<&FileError> {
    match why {
        Error::File(why) | Error::Values(ChunkError::File(why)) => Some(why),
        Error::At { source, .. } | Error::Part { why: source, .. } => file_error(source),
        _ => None,
    }
}

/// The structure that an error of a malformed file names.
pub fn structure(why: &Error) -> Option<&'static str> {
    match file_error(why)? {
        FileError::Malformed { source, .. } => Some(source.what),
        FileError::Broken { what, .. } | FileError::Outside { what, .. } | FileError::Undecoded { what, .. } => {
            Some(what)
        }
        _ => None,
    }
}

/// The chunk and the section that an error is about: malformed, or its filters refuse it.
pub fn section(why: &Error) -> Option<(&[u64], usize)> {
    match why {
        Error::Values(
            ChunkError::Section { chunk, section, .. } | ChunkError::SectionFilter { chunk, section, .. },
        ) => Some((chunk, *section)),
        Error::At { source, .. } | Error::Part { why: source, .. } => section(source),
        _ => None,
    }
}
