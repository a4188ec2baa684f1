//! Files that a command makes: they get their names when all is in them.

use crate::failure::Failure;
use hyperslab::driver::{Existing, Staged};
use hyperslab::{ErrorKind, File, OpenOptions};
use std::path::Path;

/// A file that a command writes to: one that is there, or a new one.
pub(crate) struct Target<'a> {
    path: &'a Path,
    file: File,
    /// The new file, until it has its name.
    new: Option<Staged>,
}

impl<'a> Target<'a> {
    /// Opens the file at a path, or makes one beside it if none is there.
    pub(crate) fn open(path: &'a Path, options: OpenOptions) -> Result<Target<'a>, Failure> {
        let opened = match path.exists() {
            true => options.create().open(path),
            // A name with a percent sign may stand for several files. If it does not, a file of that name is made as any other.
            false if path.to_string_lossy().contains('%') => match options.clone().read_write().open(path) {
                Err(why) if why.kind() == ErrorKind::NotFound => return Target::create(path, options),
                opened => opened,
            },
            false => return Target::create(path, options),
        };
        Ok(Target { path, file: opened?, new: None })
    }

    /// Makes a file beside a path where none may be.
    pub(crate) fn create(path: &'a Path, options: OpenOptions) -> Result<Target<'a>, Failure> {
        if path.exists() {
            return Err(Failure::Exists(path.display().to_string()));
        }
        let new = Staged::beside(path).map_err(|why| Failure::Publish { file: path.display().to_string(), why })?;
        let file = options.truncate().open(new.path()).map_err(|why| trouble(path, why))?;
        Ok(Target { path, file, new: Some(new) })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Closes the file, and gives it its name. Dropped without this, a new file is gone.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.file.close().map_err(|why| trouble(self.path, why))?;
        let publish = |new: Staged| new.publish(Existing::Keep);
        let file = self.path.display().to_string();
        self.new.map_or(Ok(()), publish).map_err(|why| Failure::Publish { file, why })
    }
}

/// Why a file cannot be written.
pub(crate) fn trouble(path: &Path, why: hyperslab::Error) -> Failure {
    Failure::Write { file: path.display().to_string(), why: Box::new(why) }
}
