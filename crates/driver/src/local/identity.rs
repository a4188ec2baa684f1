//! Which file a path or handle means: hard links, symbolic links and other spellings of a path mean one file.

use std::time::SystemTime;
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use super::Local;

/// A file of the system: two handles with equal identities have the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

/// What tells whether a file was replaced or changed by another process since a look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    identity: FileIdentity,
    length: u64,
    modified: Option<SystemTime>,
}

impl FileIdentity {
    fn of(metadata: &fs::Metadata) -> FileIdentity {
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }

    pub(super) fn device(self) -> u64 {
        self.device
    }

    pub(super) fn inode(self) -> u64 {
        self.inode
    }
}

impl FileStamp {
    /// The stamp of the file at a path now.
    pub fn of_path(path: impl AsRef<Path>) -> io::Result<FileStamp> {
        fs::metadata(path).map(|metadata| FileStamp::of(&metadata))
    }

    /// Which file it is.
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// When the file was changed last, if the system tells.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    pub(super) fn of(metadata: &fs::Metadata) -> FileStamp {
        let (identity, modified) = (FileIdentity::of(metadata), metadata.modified().ok());
        FileStamp { identity, length: metadata.len(), modified }
    }
}

impl Local {
    /// Which file this is, and what it was like when it was opened.
    ///
    /// ```
    /// use hyperslab_driver::Local;
    /// # let folder = std::env::temp_dir().join(format!("hyperslab-identity-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let one = Local::options().create(true).open(folder.join("a"))?;
    /// std::fs::hard_link(folder.join("a"), folder.join("b"))?;
    /// assert_eq!(one.stamp().identity(), Local::open(folder.join("b"))?.stamp().identity());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stamp(&self) -> FileStamp {
        self.stamp
    }
}
