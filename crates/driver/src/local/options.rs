//! How a local file is opened.
//!
//! Lives here: [`OpenOptions`]. Does not live here: locks on files (`lock`).

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::FileStamp;
use crate::{Error, Local, Operation, Result, Why};

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
    special: bool,
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

    /// Also a device. Without this only regular files are opened: a name in a file may lead to a pipe, where a read would wait forever.
    #[must_use]
    pub fn special(self, special: bool) -> Self {
        OpenOptions { special, ..self }
    }

    /// Opens the file.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Local> {
        let path = path.as_ref();
        let fail = |why: Why| Error::new(&path.display().to_string(), Operation::Open, 0, 0, why);
        // To open a device may have effects of its own, so it is looked at before; and afterwards, because it may have been replaced.
        if let Ok(found) = fs::metadata(path) {
            self.check_kind(found.file_type()).map_err(fail)?;
        }
        let file = self.open_at_once(path).map_err(|error| fail(error.into()))?;
        let found = file.metadata().map_err(|error| fail(error.into()))?;
        self.check_kind(found.file_type()).map_err(fail)?;
        Ok(Local::new(file, FileStamp::of(&found), path, self.is_writable(), self.create || self.create_new))
    }

    fn is_writable(&self) -> bool {
        self.write || self.create || self.create_new || self.truncate
    }

    /// Never waits, not even for the other end of a pipe.
    fn open_at_once(&self, path: &Path) -> io::Result<fs::File> {
        fs::OpenOptions::new()
            .read(true)
            .write(self.is_writable())
            .create(self.create)
            .create_new(self.create_new)
            .truncate(self.truncate)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)
    }

    fn check_kind(&self, found: FileType) -> Result<(), Why> {
        let kind = match found {
            _ if found.is_file() => return Ok(()),
            _ if found.is_dir() => return Err(Why::Io(Errno::ISDIR.into())),
            _ if found.is_block_device() || found.is_char_device() => match self.special {
                true => return Ok(()),
                false => "device",
            },
            _ if found.is_fifo() => "pipe",
            _ if found.is_socket() => "socket",
            _ => "special file",
        };
        Err(Why::Special(kind))
    }
}
