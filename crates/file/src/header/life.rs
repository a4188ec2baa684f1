//! Objects that are deleted while handles know them: what comes into their place is not theirs.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::Header;
use crate::{Error, OpenFile, Result};

/// An object as it was met: where its header is, and how many objects were deleted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    address: u64,
    since: u64,
}

impl Life {
    /// Where the header is.
    pub fn address(self) -> u64 {
        self.address
    }
}

/// The objects that were deleted since the file was opened.
#[derive(Default)]
pub(crate) struct Deleted {
    count: AtomicU64,
    /// By address: the number of the last deletion there, and whether a new object is there since.
    last: Mutex<HashMap<u64, (u64, bool)>>,
}

impl Deleted {
    /// The object at an address is no more.
    pub(crate) fn add(&self, address: u64) {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        self.last.lock().insert(address, (number, false));
    }

    /// There is a new object at an address.
    pub(crate) fn made(&self, address: u64) {
        if self.count.load(Ordering::Relaxed) > 0
            && let Some((_, again)) = self.last.lock().get_mut(&address)
        {
            *again = true;
        }
    }
}

impl OpenFile {
    /// Refuses what was deleted since it was met, whatever is there now.
    pub fn check_alive(&self, life: Life) -> Result<()> {
        let Some(deleted) = self.store.as_ref().map(|store| &store.deleted) else { return Ok(()) };
        if deleted.count.load(Ordering::Relaxed) == life.since {
            return Ok(());
        }
        match deleted.last.lock().get(&life.address) {
            Some((number, again)) if *number > life.since || !again => Err(Error::Deleted(life.address)),
            _ => Ok(()),
        }
    }

    /// The life of what is at an address now; an error if it was deleted and nothing new is there.
    pub fn life(&self, address: u64) -> Result<Life> {
        let Some(deleted) = self.store.as_ref().map(|store| &store.deleted) else {
            return Ok(Life { address, since: 0 });
        };
        let since = deleted.count.load(Ordering::Relaxed);
        match since > 0 && deleted.last.lock().get(&address).is_some_and(|(_, again)| !again) {
            true => Err(Error::Deleted(address)),
            false => Ok(Life { address, since }),
        }
    }
}

impl Header {
    /// The life of the object, for [`OpenFile::check_alive`].
    pub fn life(&self) -> Life {
        self.life
    }
}
