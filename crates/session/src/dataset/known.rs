//! The datasets of a file that have handles.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::Inner;

/// The datasets of a file that have handles, by the address of their headers.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<FxHashMap<u64, Weak<Inner>>>);

impl Known {
    /// The dataset at an address, if it has a handle.
    pub(super) fn get(&self, address: u64) -> Option<Arc<Inner>> {
        self.0.lock().get(&address).and_then(Weak::upgrade)
    }

    /// Makes this the dataset at an address, and returns it; or the one that another thread entered before.
    pub(super) fn insert(&self, address: u64, dataset: Arc<Inner>) -> Arc<Inner> {
        let mut known = self.0.lock();
        if let Some(inner) = known.get(&address).and_then(Weak::upgrade) {
            return inner;
        }
        // Entries of datasets without handles are removed when the table has twice as many as before.
        if known.len() == known.capacity() {
            known.retain(|_, inner| inner.strong_count() > 0);
        }
        known.insert(address, Arc::downgrade(&dataset));
        dataset
    }

    /// Removes the entry of a deleted object, so that the address can be that of another one.
    pub(crate) fn forget(&self, address: u64) {
        self.0.lock().remove(&address);
    }
}
