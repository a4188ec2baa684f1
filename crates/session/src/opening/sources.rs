//! What the virtual datasets of an opening have open in other files.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::virtual_dataset::Sources;

/// The sources of virtual datasets that an opening found, as long as they have handles. They end with the opening: handles that are left would keep
/// their files open and locked.
pub(super) struct OpenSources(Mutex<Option<Vec<Weak<Sources>>>>);

impl Default for OpenSources {
    fn default() -> OpenSources {
        OpenSources(Mutex::new(Some(Vec::new())))
    }
}

impl OpenSources {
    /// Those of one more virtual dataset.
    pub(super) fn add(&self) -> Arc<Sources> {
        let added = Arc::new(Sources::default());
        match &mut *self.0.lock() {
            Some(known) => {
                // Those that have no handle any more go when there are twice as many as before.
                if known.len() == known.capacity() {
                    known.retain(|sources| sources.strong_count() > 0);
                }
                known.push(Arc::downgrade(&added));
            }
            None => added.close(),
        }
        added
    }

    /// Closes them, and those that are added later.
    pub(super) fn close(&self) {
        // To close a file means to wait for other threads, so it happens without the lock.
        let known = self.0.lock().take();
        known.iter().flatten().filter_map(Weak::upgrade).for_each(|sources| sources.close());
    }
}
