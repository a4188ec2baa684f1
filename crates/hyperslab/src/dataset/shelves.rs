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
    /// Of datasets that are no more, or were read anew, while some thread or handle uses them.
    gone: Vec<(Arc<Core>, ChunkShelf)>,
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
        open.datasets.retain(|_, (core, shelf)| !self.close_unused(core, shelf));
        open.gone.retain(|(core, shelf)| !self.close_unused(core, shelf));
    }

    /// Closes the shelf of a dataset that no handle uses any more, if it is empty; whether it did.
    fn close_unused(&self, core: &Arc<Core>, shelf: &ChunkShelf) -> bool {
        // The shelf has it, and the table.
        let unused = Arc::strong_count(core) <= 2 && shelf.is_empty();
        if unused {
            self.cache.close(shelf);
        }
        unused
    }

    /// Keeps a shelf that is still used, apart from those of datasets that can be opened.
    fn retire(&self, open: &mut Open, core: Arc<Core>, shelf: ChunkShelf) {
        if open.gone.len() == open.gone.capacity() {
            open.gone.retain(|(core, shelf)| !self.close_unused(core, shelf));
        }
        open.gone.push((core, shelf));
    }

    /// Handles of the dataset at an address that are opened from now on read it anew. Those that are there keep what they know.
    pub(super) fn renew(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((core, shelf)) = open.datasets.remove(&address) {
            shelf.evict();
            if !self.close_unused(&core, &shelf) {
                self.retire(&mut open, core, shelf);
            }
        }
    }

    /// The dataset at an address is no more. Waits for nobody, since this is part of an operation.
    pub(super) fn forget(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((core, shelf)) = open.datasets.remove(&address) {
            shelf.abandon();
            // Nothing is loaded for a dataset that is no more. Chunks that a thread has in hand leave when it lets go.
            match shelf.is_empty() {
                true => self.cache.close(&shelf),
                false => self.retire(&mut open, core, shelf),
            }
        }
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("datasets", &self.datasets.len()).field("gone", &self.gone.len()).finish()
    }
}
