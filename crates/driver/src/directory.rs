//! Names in directories.
//!
//! Lives here: making the name of a file durable. Called by the drivers that make files, and by `Staged`.

use std::fs::File;
use std::io;
use std::path::Path;

/// The directory that holds the name of a file, open for a sync of it; none where names need no sync, or where the directory cannot be opened.
#[derive(Debug)]
pub(crate) struct Directory(Option<File>);

impl Directory {
    /// Opens the directory of the file at `path`. One in which this process may make files, but not read names, cannot be opened: that is no error.
    pub(crate) fn of(path: &Path) -> io::Result<Directory> {
        // Systems that cannot sync a directory keep names durable by themselves.
        if !cfg!(unix) {
            return Ok(Directory(None));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        match File::open(parent.unwrap_or(Path::new("."))) {
            Ok(open) => Ok(Directory(Some(open))),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Directory(None)),
            Err(error) => Err(error),
        }
    }

    /// Returns when the name of a file in it is durable, as far as the system allows to say so.
    pub(crate) fn sync(&self, file: &File) -> io::Result<()> {
        match &self.0 {
            Some(directory) => directory.sync_all(),
            None => sync_file_system(file),
        }
    }
}

/// Syncs all that the file system of a file holds: the names, too, of a directory that cannot be opened.
#[cfg(target_os = "linux")]
fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &File) -> io::Result<()> {
    Ok(())
}
