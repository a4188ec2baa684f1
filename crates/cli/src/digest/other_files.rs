//! Objects of other files that references lead to.

use std::{
    cell::RefCell,
    collections::HashMap,
    path::{Path, PathBuf},
};

use hyperslab::{ObjectPaths, OpenOptions};

/// More files than this are not remembered.
const MOST: usize = 64;

/// The paths of other files, by their names. A file that cannot be read has none.
pub(crate) struct OtherFiles {
    directory: PathBuf,
    known: RefCell<HashMap<Vec<u8>, ObjectPaths>>,
}

impl OtherFiles {
    /// Names of files count from where this file is.
    pub(crate) fn beside(file: &Path) -> OtherFiles {
        OtherFiles { directory: file.parent().unwrap_or(Path::new("")).to_owned(), known: RefCell::default() }
    }

    /// The path of an object in the file with this name; none if it has no path or there is no such file.
    pub(crate) fn path(&self, file: &[u8], address: u64) -> Option<Vec<u8>> {
        let mut known = self.known.borrow_mut();
        if !known.contains_key(file) {
            if known.len() == MOST {
                known.clear();
            }
            let opened = OpenOptions::new().swmr_read().open(self.directory.join(&*String::from_utf8_lossy(file)));
            let paths = opened.and_then(|file| ObjectPaths::of(&file)).unwrap_or_default();
            known.insert(file.to_vec(), paths);
        }
        known.get(file)?.get(address)
    }
}
