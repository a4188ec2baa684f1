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

/// Returns when `bytes` are durable as the content of the file at `path`.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (beside, mut file) = create_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        // The first error counts; what is left of the new file is of no use.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    sync_directory(path)
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

/// A new name is durable only when its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
