//! Which driver a file name asks for.

mod family;
mod multi;

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Local, Lock};

use crate::{Error, Result, open_options::Access};

/// The storage behind a path.
pub(crate) struct Storage {
    pub(crate) driver: Arc<dyn Driver>,
    /// How libhdf5 calls the driver.
    pub(crate) name: &'static str,
    /// How many bytes the member with the superblock has, if each kind of content has its own.
    pub(crate) size: Option<u64>,
    /// What is locked against others.
    pub(crate) locked: Option<Arc<Local>>,
    /// Whether nobody else is writing it.
    pub(crate) alone: bool,
}

/// The storage behind a path: a path with a `%d` (or `%05d`, say) is a family of files; one that ends as the metadata member of a
/// multi or split file does, and says that it is one, is that; any other is one file. `hold` keeps writers away as long as the storage lives;
/// without, it is not locked.
pub(crate) fn open(path: &Path, hold: bool) -> Result<Storage> {
    if let Some(template) = path.to_str().filter(|name| family::is_template(name)) {
        return family::open(template, &Access::default());
    }
    let local = Arc::new(Local::open(path)?);
    let alone = if hold { locks() && local.lock(Lock::Shared)? } else { nobody_writes(&local)? };
    let locked = (hold && alone).then(|| local.clone());
    let one: Arc<dyn Driver> = local;
    match multi::open(path, &one)? {
        Some(several) => Ok(Storage { locked, ..several }),
        None => Ok(Storage { driver: one, name: "sec2", size: None, locked, alone }),
    }
}

/// Whether a file could be locked by a reader now, so that nobody who is alive writes it.
fn nobody_writes(local: &Local) -> Result<bool> {
    if !locks() || !local.lock(Lock::Shared).unwrap_or(false) {
        return Ok(false);
    }
    local.unlock()?;
    Ok(true)
}

/// Locks a file that may be changed against others, if it is to be; whether it is locked.
fn lock(local: &Local, access: &Access) -> Result<bool> {
    Ok(!access.unlocked && locks() && local.lock(Lock::Exclusive)?)
}

/// Whether files are locked at all; the environment may say no, as it does for libhdf5.
fn locks() -> bool {
    !std::env::var("HDF5_USE_FILE_LOCKING").is_ok_and(|said| ["FALSE", "0"].contains(&said.as_str()))
}

/// The storage behind a path that may be changed, locked against others if files are.
pub(crate) fn open_writable(path: &Path, access: &Access) -> Result<Storage> {
    if let Some(template) = path.to_str().filter(|name| family::is_template(name)) {
        return family::open(template, access);
    }
    let options = Local::options().write(true).create(access.create || access.truncate).create_new(access.create_new);
    let local = options.open(path)?;
    let alone = lock(&local, access)?;
    let local = Arc::new(local);
    let one: Arc<dyn Driver> = local.clone();
    if !access.truncate && multi::open(path, &one)?.is_some() {
        return Err(Error::Unsupported("writing a file for each kind of content"));
    }
    Ok(Storage { driver: one, name: "sec2", size: None, locked: alone.then_some(local), alone })
}
