//! From a path to storage: which driver it asks for, and locks against other processes.

mod family;
mod hold;
mod multi;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_driver::{Driver, FileIdentity, Local};

pub(crate) use hold::Hold;

use crate::{Error, Members, Result, error::opened, options::Access};

/// The file that a path leads to: open, but neither locked nor looked into. Of several files it is the first.
pub(crate) struct Source {
    path: PathBuf,
    /// Where the file itself is.
    first: PathBuf,
    local: Arc<Local>,
    /// The names of a family of files.
    template: Option<String>,
    /// What is put before the endings of members of a split file, if that was given in place of a name.
    common: Option<String>,
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
        let template =
            path.to_str().filter(|name| may_be_family(access) && family::is_template(name)).map(str::to_owned);
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
        let (mut common, mut first) = (None, template.as_deref().map(family::first_name));
        if let Some(Members::Split { metadata, .. }) = &access.members {
            let name = path.to_str().ok_or_else(|| Error::Storage(format!("{}: it is no text", path.display())))?;
            (common, first) = (Some(name.to_owned()), Some(metadata.replace("%s", name)));
        }
        let first = first.map_or_else(|| path.clone(), PathBuf::from);
        let second = match (&template, &access.members, &common) {
            (Some(template), ..) => Some(family::member_name(template, 1)),
            (None, Some(Members::Split { raw, .. }), Some(common)) => Some(raw.replace("%s", common)),
            _ => None,
        };
        second.map_or(Ok(()), |second| keep_member(&first, Path::new(&second), access))?;
        let local = Arc::new(options.open(&first)?);
        Ok(Source { path, first, local, template, common })
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
        let length = one.len(&access.transfer)?;
        let is_new = access.write && (access.truncate || access.create_new || length == 0);
        let several = match (&access.members, &self.common) {
            (Some(Members::Split { raw, .. }), Some(common)) if is_new => {
                Some(multi::make(&raw.replace("%s", common), one.clone(), access)?)
            }
            (_, common) if !is_new => multi::open(&self.first, &one, common.is_some(), access)?,
            _ => None,
        };
        match several {
            Some((driver, name)) => Ok(Storage { driver, name, size: Some(length), hold, alone }),
            None if self.common.is_some() => {
                Err(Error::Storage(format!("{}: it is not the metadata of a split file", self.first.display())))
            }
            None => Ok(Storage { driver: one, name: "sec2", size: None, hold, alone }),
        }
    }
}

/// Refuses to make a file whose second member is there: with content, or at all if the file must be new. Called before the first member is made, so that
/// nothing changes then. The error is the one that the system gives for a name that is taken.
fn keep_member(first: &Path, second: &Path, access: &Access) -> Result<()> {
    let size = |path: &Path| fs::metadata(path).ok().map(|found| found.len());
    let first_is_empty = size(first).map_or(access.create, |size| size == 0);
    let is_new = access.create_new || access.write && !access.truncate && first_is_empty;
    if is_new && size(second).is_some_and(|size| size > 0 || access.create_new) {
        Local::options().create_new(true).open(second)?;
    }
    Ok(())
}

/// Lets `work` use the storage at a path, without an engine; locked against other processes until it is done, if it should be.
pub fn with_storage<T>(
    path: &Path,
    access: &Access,
    locked: bool,
    work: impl FnOnce(Arc<dyn Driver>) -> Result<T>,
) -> Result<T> {
    let use_it = || {
        let source = Source::find(path, access)?;
        let storage = if locked { source.lock(access)? } else { source.unlocked(access)? };
        work(storage.driver.clone())
    };
    opened(path, use_it())
}

/// Whether a name may be that of a family.
fn may_be_family(access: &Access) -> bool {
    !access.one_file && !matches!(access.members, Some(Members::Split { .. }))
}
