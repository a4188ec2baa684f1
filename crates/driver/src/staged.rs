//! A file that gets its name when it is complete.
//!
//! Lives here: the new file beside its target, and the rename that publishes it, so that a program which looks at the target finds no
//! file, the old one or the whole new one, never a part. Does not live here: what is in the file. Used by [`Memory`](crate::Memory), by
//! `Repack`, and by commands that make files.
//!
//! ```text
//!  beside(target)          write, close            publish
//!  .run.h5.712-0.new  -->  .run.h5.712-0.new  -->  fsync, rename to run.h5, fsync of the directory
//!                          dropped, an error: removed; killed: stays under this name, run.h5 is as it was
//! ```

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::directory::Directory;

/// The most bytes of a target's name that are in the name of the new file. File systems allow 255, or 143 where names are encrypted.
const MOST_OF_NAME: usize = 100;

/// What to do with a file that has the name of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new file is not published: [`io::ErrorKind::AlreadyExists`].
    Keep,
    /// The new file takes its name and its permissions. A symbolic link stays, and leads to the new file.
    Replace,
}

/// A new file beside its target. [`Staged::publish`] gives it the target's name; dropped before that, it is removed.
///
/// ```
/// use hyperslab_driver::{Existing, Staged};
/// # let target = std::env::temp_dir().join(format!("hyperslab-staged-{}.h5", std::process::id()));
/// let new = Staged::beside(&target)?;
/// std::fs::write(new.path(), b"all of it")?;
/// assert!(!target.exists());
/// new.publish(Existing::Keep)?;
/// assert_eq!(std::fs::read(&target)?, b"all of it");
/// # std::fs::remove_file(&target)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    target: PathBuf,
    published: bool,
}

impl Staged {
    /// Makes an empty file in the directory of `target`, with a name that no other file has.
    pub fn beside(target: impl AsRef<Path>) -> io::Result<Staged> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let target = target.as_ref();
        // A rename would replace a symbolic link instead of the file that it leads to.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        loop {
            let mut new = OsString::from(".");
            new.push(short(name));
            new.push(format!(".{}-{}.new", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
            let path = target.with_file_name(new);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(Staged { path, target, published: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where the file is until it is published.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file the name of its target. Returns when its bytes and the name are durable; in a directory that this process may not read, the name
    /// is so on Linux alone. An error that comes after the rename says that the file is there.
    pub fn publish(self, existing: Existing) -> io::Result<()> {
        // Read access is enough for a sync, and a file may have been made read-only.
        let file = File::open(&self.path)?;
        file.sync_all()?;
        // Before the rename: what fails then leaves no file.
        let directory = Directory::of(&self.target)?;
        self.rename(existing)?;
        directory.sync(&file).map_err(|error| {
            let why = format!("the file is there and complete, but its name may not outlive a power failure: {error}");
            io::Error::new(error.kind(), why)
        })
    }

    /// Gives the file the name of its target, which is returned. A power failure may still lose both.
    pub(crate) fn rename(mut self, existing: Existing) -> io::Result<PathBuf> {
        if existing == Existing::Replace
            && let Ok(old) = fs::metadata(&self.target)
        {
            fs::set_permissions(&self.path, old.permissions())?;
        }
        match existing {
            Existing::Keep => rename_new(&self.path, &self.target)?,
            Existing::Replace => fs::rename(&self.path, &self.target)?,
        }
        self.published = true;
        Ok(mem::take(&mut self.target))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.published {
            // An error that led here counts more than one of the removal.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name, or as much of it as fits with what is put around it.
fn short(name: &OsStr) -> Cow<'_, OsStr> {
    if name.len() <= MOST_OF_NAME {
        return Cow::Borrowed(name);
    }
    let mut text = name.to_string_lossy().into_owned();
    let end = (0..=MOST_OF_NAME).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or(0));
    Cow::Owned(text.into())
}

/// Renames a file, unless the new name is taken.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // This file system cannot do it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    match fs::hard_link(from, to) {
        Ok(()) => {
            // The file has its name; an error now would say that it has not.
            let _ = fs::remove_file(from);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links: another program may take the name between these two steps.
        Err(_) if to.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}
