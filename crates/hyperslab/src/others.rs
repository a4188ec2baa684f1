//! The files that a file leads to, kept open for the next time.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use hyperslab_driver::Why;

use crate::{Error, File, OpenOptions, Result, file::Inner, open_options::Access, storage};

/// Files that were opened through a file, and how. Shared by all of them.
pub(crate) struct Others {
    pub(crate) options: OpenOptions,
    /// The last used at the end. They do not know of one another, so that none keeps itself open.
    kept: Mutex<Vec<(PathBuf, Arc<Inner>)>>,
}

/// More files than this are not kept.
const MOST: usize = 64;

impl Others {
    pub(crate) fn new(options: OpenOptions) -> Arc<Others> {
        Arc::new(Others { options, kept: Mutex::default() })
    }

    /// The first of these places that has a file; none if no place has one.
    pub(crate) fn find(self: &Arc<Others>, places: &[PathBuf]) -> Result<Option<File>> {
        for place in places {
            match self.open(place) {
                Err(why) if is_missing(&why) => {}
                other => return other.map(Some),
            }
        }
        Ok(None)
    }

    /// Opens a file that another one leads to, or has it already. Others may write it meanwhile: nobody knows how long it is kept.
    fn open(self: &Arc<Others>, path: &Path) -> Result<File> {
        self.open_for_reading(path, false)
    }

    fn open_for_reading(self: &Arc<Others>, path: &Path, hold: bool) -> Result<File> {
        // Absolute, as the program may change its directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(inner) = self.kept(&path) {
            return Ok(File::new(inner, self.clone()));
        }
        let opened = Inner::open(storage::open(&path, hold)?, Some(path.clone()), self.options.cache_config())?;
        let inner = Arc::new(opened);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push((path, inner.clone()));
        Ok(File::new(inner, self.clone()))
    }

    /// Opens a file so that it may be changed, for all who ask from now on.
    pub(crate) fn edit(self: &Arc<Others>, path: &Path) -> Result<File> {
        let Access { unlocked, low, .. } = self.options.access;
        let access = Access { write: true, unlocked, low, ..Access::default() };
        let storage = storage::open_writable(path, &access)?;
        let cache = self.options.cache_config();
        let inner = Arc::new(Inner::writable(storage, Some(path.to_path_buf()), &access, cache)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| known != path);
        kept.push((path.to_path_buf(), inner.clone()));
        Ok(File::new(inner, self.clone()))
    }

    /// Opens the file that leads to all others, as the options say.
    pub(crate) fn open_first(self: &Arc<Others>, path: &Path) -> Result<File> {
        let access = &self.options.access;
        if !access.write {
            return self.open_for_reading(path, !access.unlocked);
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let storage = storage::open_writable(&path, access)?;
        let inner = Arc::new(Inner::writable(storage, Some(path.clone()), access, self.options.cache_config())?);
        // Links that lead back here find the file as it is now.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((path, inner.clone()));
        Ok(File::new(inner, self.clone()))
    }

    fn kept(&self, path: &Path) -> Option<Arc<Inner>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(known, _)| known == path)?;
        if let Some(last) = kept.get_mut(found..) {
            last.rotate_left(1);
        }
        kept.last().map(|(_, inner)| inner.clone())
    }
}

/// Whether there is no such file, or none that may be read. Other errors must not pass for it: a file that cannot be opened now may
/// hold values.
fn is_missing(why: &Error) -> bool {
    use ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    let Error::Driver(hyperslab_driver::Error { why: Why::Io(why), .. }) = why else { return false };
    matches!(why.kind(), NotFound | NotADirectory | IsADirectory | PermissionDenied | InvalidFilename)
}
