//! An open file as its handles share it, and the options that each handle gives to the storage.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock, atomic::AtomicU64},
};

use hyperslab_driver::{Driver, PageBuffer, Transfer};
use hyperslab_format::{Superblock, message, superblock::Root};

use crate::{Error, Result, Retry, cache_image::Image, speed::Speed, store::Store, transfers::Transfers};

/// A file whose superblock was read. Any number of threads may use it at once.
///
/// All requests to the storage that are made by it have the options that the file was opened with, or those that [`OpenFile::with_transfer`] gave.
pub struct OpenFile {
    state: Arc<FileState>,
    /// What goes with each request to the storage.
    pub(crate) transfers: Arc<Transfers>,
}

/// What all handles of an open file share.
pub struct FileState {
    pub(crate) raw: Arc<dyn Driver>,
    pub(crate) pages: PageBuffer<Arc<dyn Driver>>,
    pub(crate) superblock: Superblock,
    /// Where address 0 is, in bytes from the front of the storage.
    pub(crate) base: u64,
    /// The end of the storage as an address, when the file was opened or [reloaded](OpenFile::reload).
    pub(crate) end: AtomicU64,
    pub(crate) shared: Option<message::SharedTable>,
    /// Structures that are newer than the file's bytes.
    pub(crate) image: Image,
    /// The root group, once there is one.
    pub(crate) root: OnceLock<Root>,
    /// Whether blocks are read through a journal that a program left behind the end of the file.
    pub(crate) has_journal: bool,
    /// How often a block is read that does not belong together.
    pub(crate) retry: Retry,
    /// How fast the storage is.
    pub(crate) speed: Speed,
    /// What is needed to change the file.
    pub(crate) store: Option<Box<Store>>,
    /// The options that the file was opened with.
    pub(crate) opened_with: Arc<Transfers>,
}

impl OpenFile {
    pub(crate) fn new(state: FileState) -> OpenFile {
        OpenFile { transfers: state.opened_with.clone(), state: Arc::new(state) }
    }

    /// The same open file. What is read, written and flushed by the result goes to the storage with these options, the end of the storage included; the kind of
    /// content is added to them.
    #[must_use]
    pub fn with_transfer(&self, transfer: &Transfer) -> OpenFile {
        OpenFile { state: self.state.clone(), transfers: Arc::new(Transfers::new(transfer)) }
    }

    /// As [`OpenFile::with_transfer`], with the options of another handle.
    #[must_use]
    pub fn with_options_of(&self, other: &OpenFile) -> OpenFile {
        OpenFile { state: self.state.clone(), transfers: other.transfers.clone() }
    }

    /// Whether its requests have other options than the file was opened with.
    pub(crate) fn has_own_options(&self) -> bool {
        !Arc::ptr_eq(&self.transfers, &self.opened_with)
    }

    /// The options for values that are not in the file itself.
    pub fn raw_transfer(&self) -> &Transfer {
        &self.transfers.raw
    }

    /// The state of a file that is being opened: no other handle has it yet.
    pub(crate) fn unshared(&mut self) -> Result<&mut FileState> {
        Arc::get_mut(&mut self.state).ok_or_else(|| Error::broken("superblock", 0, "the file is in use already"))
    }
}

impl Deref for OpenFile {
    type Target = FileState;

    fn deref(&self) -> &FileState {
        &self.state
    }
}
