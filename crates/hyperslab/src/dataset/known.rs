//! The datasets of a file that have handles.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::Inner;

/// The datasets of a file that somebody has a handle of, by the address of their headers.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<u64, Weak<Inner>>>);

impl Known {
    /// The dataset at an address, if somebody has it.
    pub(super) fn get(&self, address: u64) -> Option<Arc<Inner>> {
        self.0.lock().get(&address).and_then(Weak::upgrade)
    }

    /// The dataset for all who ask from now on; another one if somebody was faster.
    pub(super) fn insert(&self, address: u64, dataset: Arc<Inner>) -> Arc<Inner> {
        let mut known = self.0.lock();
        if let Some(inner) = known.get(&address).and_then(Weak::upgrade) {
            return inner;
        }
        // Those that nobody has any more go when there are twice as many as before.
        if known.len() == known.capacity() {
            known.retain(|_, inner| inner.strong_count() > 0);
        }
        known.insert(address, Arc::downgrade(&dataset));
        dataset
    }

    /// Whoever asks for the object at an address from now on gets another one: it is no more.
    pub(crate) fn forget(&self, address: u64) {
        self.0.lock().remove(&address);
    }
}
