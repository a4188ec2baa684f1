//! External files that are open.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Weak},
};

use hyperslab_base::AnyError;
use hyperslab_chunk::ExternalFile;
use hyperslab_driver::{Driver, FileIdentity, Local};
use parking_lot::Mutex;

use super::external::ExternalRule;
use crate::{Error, Result};

/// A file with raw data, by its name. It stays open as long as the name leads to it.
pub(super) struct RawFile {
    name: Vec<u8>,
    rule: Arc<ExternalRule>,
    opened: Mutex<Option<OpenedRaw>>,
}

#[derive(Clone)]
struct OpenedRaw {
    local: Arc<Local>,
    writable: bool,
}

impl OpenedRaw {
    /// Whether it is the file that was found, and may be used so.
    fn serves(&self, found: Option<FileIdentity>, write: bool) -> bool {
        Some(self.local.stamp().identity()) == found && (self.writable || !write)
    }
}

impl RawFile {
    pub(super) fn new(name: &[u8], rule: &Arc<ExternalRule>) -> RawFile {
        RawFile { name: name.to_vec(), rule: rule.clone(), opened: Mutex::default() }
    }

    fn open(&self, write: bool) -> Result<Arc<dyn Driver>> {
        let (place, found) = self.rule.find(&self.name);
        let known = self.opened.lock().clone().filter(|known| known.serves(found, write));
        if let Some(known) = known {
            return Ok(known.local);
        }
        let engine = self.rule.engine.upgrade().ok_or(hyperslab_file::Error::Closed)?;
        if let Some(why) = self.rule.refusal(&engine, &place, write) {
            return Err(Error::Forbidden(why));
        }
        let opened = engine.raw_files.open(&place, found, write)?;
        *self.opened.lock() = Some(opened.clone());
        Ok(opened.local)
    }
}

impl ExternalFile for RawFile {
    fn to_read(&self) -> std::result::Result<Arc<dyn Driver>, AnyError> {
        self.open(false).map_err(AnyError::from)
    }

    fn to_write(&self) -> std::result::Result<Arc<dyn Driver>, AnyError> {
        self.open(true).map_err(AnyError::from)
    }
}

/// The external files that the openings of a file have open. Each is open once, however many names and openings lead to it, so that a flush makes it
/// durable once.
#[derive(Default)]
pub(crate) struct RawFiles(Mutex<HashMap<FileIdentity, (Weak<Local>, bool)>>);

impl RawFiles {
    /// The file at a place, where this one was found. One that is missing is made if it is to be written.
    fn open(&self, place: &Path, found: Option<FileIdentity>, write: bool) -> hyperslab_driver::Result<OpenedRaw> {
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
