//! Which driver a file name asks for.

mod family;
mod multi;

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Local};

use crate::Result;

/// The storage behind a path.
pub(crate) struct Storage {
    pub(crate) driver: Arc<dyn Driver>,
    /// How libhdf5 calls the driver.
    pub(crate) name: &'static str,
    /// How many bytes the member with the superblock has, if each kind of content has its own.
    pub(crate) size: Option<u64>,
}

/// The storage behind a path: a path with a `%d` (or `%05d`, say) is a family of files; one that ends as the metadata member of a
/// multi or split file does, and says that it is one, is that; any other is one file.
pub(crate) fn open(path: &Path) -> Result<Storage> {
    if let Some(template) = path.to_str().filter(|name| family::is_template(name)) {
        return family::open(template);
    }
    let one: Arc<dyn Driver> = Arc::new(Local::open(path)?);
    match multi::open(path, &one)? {
        Some(several) => Ok(several),
        None => Ok(Storage { driver: one, name: "sec2", size: None }),
    }
}
