//! How a local file is opened.
//!
//! Lives here: [`OpenOptions`]. Does not live here: locks on files (`lock`).

use std::fs;
use std::path::Path;

use crate::{Error, Local, Operation, Result};

/// How a local file is opened: for reading unless told more.
///
/// ```
/// use hyperslab_driver::Local;
/// let error = Local::options().write(true).open("/nowhere/at/all.h5").unwrap_err();
/// assert!(error.to_string().contains("/nowhere/at/all.h5"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    write: bool,
    create: bool,
    create_new: bool,
    truncate: bool,
}

impl OpenOptions {
    /// Also for writing.
    #[must_use]
    pub fn write(self, write: bool) -> Self {
        OpenOptions { write, ..self }
    }

    /// Made if it is not there; implies writing.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        OpenOptions { create, ..self }
    }

    /// Made, and an error if it is there; implies writing.
    #[must_use]
    pub fn create_new(self, create_new: bool) -> Self {
        OpenOptions { create_new, ..self }
    }

    /// Emptied; implies writing.
    #[must_use]
    pub fn truncate(self, truncate: bool) -> Self {
        OpenOptions { truncate, ..self }
    }

    /// Opens the file.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Local> {
        let path = path.as_ref();
        let writable = self.write || self.create || self.create_new || self.truncate;
        let opened = fs::OpenOptions::new()
            .read(true)
            .write(writable)
            .create(self.create)
            .create_new(self.create_new)
            .truncate(self.truncate)
            .open(path);
        let file =
            opened.map_err(|error| Error::new(&format!("local {}", path.display()), Operation::Open, 0, 0, error))?;
        Ok(Local::new(file, path, writable, self.create || self.create_new))
    }
}
