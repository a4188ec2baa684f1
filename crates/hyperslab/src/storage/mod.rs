//! From a path to storage: which driver it asks for, and locks against other processes.

mod family;
mod hold;
mod locking;
mod members;
mod multi;
mod options;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_driver::{Driver, FileIdentity, Local};

pub(crate) use hold::Hold;
pub use locking::Locking;
pub(crate) use members::Members;

use crate::{Error, Result, open_options::Access};

/// The file that a path leads to: open, but neither locked nor looked into. Of several files it is the first.
pub(crate) struct Source {
    path: PathBuf,
    local: Arc<Local>,
    /// The names of a family of files.
    template: Option<String>,
}

/// Storage that can be read.
pub(crate) struct Storage {
    pub(crate) driver: Arc<dyn Driver>,
    /// How libhdf5 calls the driver.
    pub(crate) name: &'static str,
    /// How many bytes the member with the superblock has, if each kind of content has its own.
    pub(crate) size: Option<u64>,
    /// The file, or the first of several, with its lock.
    pub(crate) hold: Option<Hold>,
    /// Whether no other process writes it.
    pub(crate) alone: bool,
}

impl Storage {
    /// Whether a writer may mark the file as whole at every instant: another process that can lock it takes it for left by a writer that is gone.
    pub(crate) fn marks_whole(&self) -> bool {
        self.hold.as_ref().is_none_or(Hold::is_locked)
    }
}

impl Source {
    /// Opens the file at a path: one with a `%d` (or `%05d`, say) is a family of files, unless it must be one. Nothing of it is changed.
    pub(crate) fn find(path: &Path, access: &Access) -> Result<Source> {
        // Absolute, as the program may change its directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let template = path.to_str().filter(|name| !access.one_file && family::is_template(name)).map(str::to_owned);
        match &template {
            // Refused before anything is made.
            Some(template) if access.truncate || access.create_new => {
                family::wanted_size(template, access).map(drop)?
            }
            None if matches!(access.members, Some(Members::Family { .. })) => {
                let name = path.display();
                return Err(Error::Storage(format!(
                    "{name}: the name of a family of files has a %d, as in part%05d.h5"
                )));
            }
            _ => {}
        }
        // Without a size for its members, a family that is missing is not made.
        let makes = template.is_none() || access.members.is_some();
        let options = Local::options()
            .write(access.write)
            .special(access.special)
            .create(makes && (access.create || access.truncate))
            .create_new(access.create_new);
        let first = template.as_deref().map(family::first_name);
        let local = Arc::new(options.open(first.as_deref().map_or(path.as_path(), Path::new))?);
        Ok(Source { path, local, template })
    }

    /// Whether there is a file at a path, or the first of a family; so, too, if the system cannot tell.
    pub(crate) fn is_there(path: &Path) -> bool {
        let first = path.to_str().filter(|name| family::is_template(name)).map(family::first_name);
        first.as_deref().map_or(path, Path::new).try_exists().unwrap_or(true)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is, whatever its path.
    pub(crate) fn identity(&self) -> FileIdentity {
        self.local.stamp().identity()
    }

    /// Locks the file against other processes and opens its members: one that ends as the metadata member of a multi or split file does, and says
    /// that it is one, is that.
    pub(crate) fn lock(self, access: &Access) -> Result<Storage> {
        let hold = Hold::new(self.local.clone(), access)?;
        let alone = hold.is_locked();
        self.members(access, Some(hold), alone)
    }

    /// As [`Source::lock`], without a lock.
    pub(crate) fn unlocked(self, access: &Access) -> Result<Storage> {
        self.members(access, None, false)
    }

    fn members(self, access: &Access, hold: Option<Hold>, alone: bool) -> Result<Storage> {
        if let Some(template) = &self.template {
            let driver = Arc::new(family::open(template, &self.local, access)?);
            return Ok(Storage { driver, name: "family", size: None, hold, alone });
        }
        let one: Arc<dyn Driver> = self.local;
        let several = if access.truncate { None } else { multi::open(&self.path, &one)? };
        match several {
            Some(_) if access.write => Err(Error::Unsupported("writing a file for each kind of content")),
            Some((driver, name)) => {
                let size = Some(one.len(&access.transfer)?);
                Ok(Storage { driver, name, size, hold, alone })
            }
            None => Ok(Storage { driver: one, name: "sec2", size: None, hold, alone }),
        }
    }
}
