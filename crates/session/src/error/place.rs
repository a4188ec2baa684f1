//! Files and objects as part of an error: where something failed.

use std::path::Path;

use hyperslab_driver::{Operation, shown_path};

use crate::{Error, OpenDataset, Result, Session};

/// Says which file could not be opened.
pub(crate) fn opened<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|why| match why {
        Error::Driver(why) if why.operation == Operation::Open => Error::Driver(why),
        Error::At { .. } => why,
        why => why.at(format!("cannot open {}", shown_path(path))),
    })
}

impl Session {
    /// Says in which file something failed, unless the error does already.
    pub(crate) fn locate(&self, why: Error) -> Error {
        match self.path() {
            Some(path) if why.is_bare() && !why.names_storage() => why.at(shown_path(path)),
            _ => why,
        }
    }
}

impl OpenDataset {
    /// Says in which dataset something failed, unless the error does already.
    pub(crate) fn locate(&self, why: Error) -> Error {
        if !why.is_bare() {
            return why;
        }
        let path = self.session().path().filter(|_| !why.names_storage());
        let of_file = path.map_or_else(String::new, |path| format!(" of {}", shown_path(path)));
        why.at(format!("dataset at address {:#x}{of_file}", self.address()))
    }
}

impl Error {
    /// The same, of a file or an object.
    pub(crate) fn at(self, place: String) -> Error {
        Error::At { place, source: Box::new(self) }
    }

    /// Whether it comes from a layer below, which knows neither files nor objects by name.
    fn is_bare(&self) -> bool {
        matches!(self, Error::File(_) | Error::Driver(_) | Error::Values(_) | Error::Filter(_) | Error::Malformed(_))
    }

    /// Whether it names the storage: what drivers say does.
    fn names_storage(&self) -> bool {
        use hyperslab_chunk::Error as ChunkError;
        use hyperslab_file::Error as FileError;
        matches!(
            self,
            Error::Driver(_)
                | Error::File(FileError::Driver(_))
                | Error::Values(ChunkError::Driver(_) | ChunkError::File(FileError::Driver(_)))
        )
    }
}
