//! The chunks of a file in memory, by dataset.

use std::{collections::HashMap, sync::Arc};

use hyperslab_chunk::{ChunkCache, ChunkShelf, Facts};
use parking_lot::Mutex;

use super::core::{Client, Core};

/// The chunk cache of a file, and the datasets that may have chunks there.
#[derive(Debug)]
pub(crate) struct Shelves {
    pub(crate) cache: ChunkCache,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By the address of the header.
    datasets: HashMap<u64, (Arc<Core>, ChunkShelf)>,
    /// Of datasets that are no more, or were read anew.
    gone: Vec<ChunkShelf>,
}

impl Shelves {
    pub(crate) fn new(cache: ChunkCache) -> Shelves {
        Shelves { cache, open: Mutex::default() }
    }

    /// What handles of the dataset at an address share, if chunks of it may be in memory.
    pub(super) fn core(&self, address: u64) -> Option<Arc<Core>> {
        self.open.lock().datasets.get(&address).map(|(core, _)| core.clone())
    }

    /// The shelf of a dataset.
    pub(super) fn shelf(&self, core: &Arc<Core>, facts: Facts) -> ChunkShelf {
        let mut open = self.open.lock();
        if let Some((_, shelf)) = open.datasets.get(&core.address()).filter(|(known, _)| Arc::ptr_eq(known, core)) {
            return shelf.clone();
        }
        // Those that nobody has and that are empty go when there are twice as many as before.
        if open.datasets.len() == open.datasets.capacity() {
            self.sweep(&mut open);
        }
        let shelf = self.cache.open(Arc::new(Client { core: core.clone(), facts }), None, None);
        open.datasets.insert(core.address(), (core.clone(), shelf.clone()));
        shelf
    }

    fn sweep(&self, open: &mut Open) {
        open.datasets.retain(|_, (core, shelf)| {
            // The shelf has it, and the table.
            let keep = Arc::strong_count(core) > 2 || !shelf.is_empty();
            if !keep {
                self.cache.close(shelf);
            }
            keep
        });
        open.gone.retain(|shelf| {
            if shelf.is_empty() {
                self.cache.close(shelf);
            }
            !shelf.is_empty()
        });
    }

    /// Handles of the dataset at an address that are opened from now on read it anew. Those that are there keep what they know.
    pub(super) fn renew(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((_, shelf)) = open.datasets.remove(&address) {
            shelf.evict();
            open.gone.push(shelf);
        }
    }

    /// The dataset at an address is no more. Waits for nobody, since this is part of an operation.
    pub(super) fn forget(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((_, shelf)) = open.datasets.remove(&address) {
            shelf.abandon();
            open.gone.push(shelf);
        }
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("datasets", &self.datasets.len()).field("gone", &self.gone.len()).finish()
    }
}
