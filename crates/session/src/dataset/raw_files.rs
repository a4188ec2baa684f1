//! External files that are open.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Weak},
};

use hyperslab_driver::{FileIdentity, FileStamp, Local};
use parking_lot::Mutex;

use crate::external_access::Granted;

/// What the openings of a file share of other files.
#[derive(Default)]
pub(crate) struct ExternalFiles {
    /// Files that this program named when it made datasets.
    pub(crate) granted: Granted,
    /// Files with raw data that are open.
    pub(super) open: RawFiles,
    /// Files that were made for datasets that are not there yet.
    pub(super) tentative: Tentative,
}

/// The files that were made for datasets which are not there yet, and whether another dataset is to have values in them.
#[derive(Default)]
pub(super) struct Tentative(pub(super) Mutex<Vec<(FileStamp, bool)>>);

/// A file with raw data that is open.
#[derive(Clone)]
pub(super) struct OpenedRaw {
    pub(super) local: Arc<Local>,
    writable: bool,
}

impl OpenedRaw {
    /// Whether it is the file that was found, and may be used so.
    pub(super) fn serves(&self, found: Option<FileIdentity>, write: bool) -> bool {
        Some(self.local.stamp().identity()) == found && (self.writable || !write)
    }
}

/// The external files that the openings of a file have open. Each is open once, however many names and openings lead to it, so that a flush makes it
/// durable once.
#[derive(Default)]
pub(super) struct RawFiles(Mutex<HashMap<FileIdentity, (Weak<Local>, bool)>>);

impl RawFiles {
    /// The file at a place, where this one was found. One that is missing is made if it is to be written.
    pub(super) fn open(
        &self,
        place: &Path,
        found: Option<FileIdentity>,
        write: bool,
    ) -> hyperslab_driver::Result<OpenedRaw> {
        let mut known = self.0.lock();
        if let Some((local, writable)) = found.and_then(|found| known.get(&found))
            && let Some(local) = local.upgrade().filter(|_| *writable || !write)
        {
            return Ok(OpenedRaw { local, writable: *writable });
        }
        // A link that leads to no file is not followed: its target may be where this file may not write.
        let options = Local::options().write(write).create_new(write && found.is_none());
        let local = Arc::new(options.open(place)?);
        if known.len() == known.capacity() {
            known.retain(|_, (local, _)| local.strong_count() > 0);
        }
        known.insert(local.stamp().identity(), (Arc::downgrade(&local), write));
        Ok(OpenedRaw { local, writable: write })
    }
}
