//! The file behind a memory storage.
//!
//! Lives here: replacing the file as a whole, so that a reader of it sees the old bytes or the new, never a mixture. Does not
//! live here: when to do so. Called by `Memory`.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::directory;

/// Returns when `bytes` are the content of the file at `path`, and durable as that if asked for.
pub(super) fn replace(path: &Path, bytes: &[u8], durably: bool) -> io::Result<()> {
    let (beside, mut file) = create_beside(path)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| if durably { file.sync_all() } else { Ok(()) })
        .and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        // The first error counts; what is left of the new file is of no use.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    if durably { directory::sync_parent(path) } else { Ok(()) }
}

/// A new file in the directory of `path`, with a name that no other has.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    loop {
        let mut new = OsString::from(".");
        new.push(name);
        new.push(format!(".{}-{}.new", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let beside = path.with_file_name(new);
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
