//! Names in directories.
//!
//! Lives here: making the name of a file durable. Called by the drivers that make files.

use std::fs::File;
use std::io;
use std::path::Path;

/// Returns when the name of the file at `path` is durable: the directory that holds the name is synced. Systems that cannot sync a
/// directory keep names durable by themselves.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
