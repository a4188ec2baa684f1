//! An external file, by its name.

use std::sync::Arc;

use hyperslab_base::AnyError;
use hyperslab_chunk::ExternalFile;
use hyperslab_driver::Driver;
use parking_lot::Mutex;

use super::{external_rule::ExternalRule, raw_files::OpenedRaw};
use crate::{Error, Result};

/// A file with raw data, by its name. It stays open as long as the name leads to it.
pub(super) struct RawFile {
    name: Vec<u8>,
    rule: Arc<ExternalRule>,
    opened: Mutex<Option<OpenedRaw>>,
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
        let files = self.rule.files.upgrade().ok_or(hyperslab_file::Error::Closed)?;
        if let Some(why) = self.rule.refusal(&files, &place, write) {
            return Err(Error::Forbidden(why));
        }
        let opened = files.open.open(&place, found, write)?;
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
