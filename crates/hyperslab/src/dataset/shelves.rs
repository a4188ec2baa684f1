//! The chunks of a file in memory, by dataset.

use std::{collections::HashMap, sync::Arc};

use hyperslab_chunk::{ChunkCache, ChunkLayout, ChunkShelf, ChunkSource, DatasetStorage};
use parking_lot::Mutex;

/// The chunk cache of a file, and the datasets that may have chunks there.
#[derive(Debug)]
pub(crate) struct Shelves {
    pub(crate) cache: ChunkCache,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By the address of the header.
    datasets: HashMap<u64, (Arc<DatasetStorage>, ChunkShelf)>,
    /// Of datasets that are no more, or were read anew, while some thread or handle uses them.
    gone: Vec<(Arc<DatasetStorage>, ChunkShelf)>,
}

impl Shelves {
    pub(crate) fn new(cache: ChunkCache) -> Shelves {
        Shelves { cache, open: Mutex::default() }
    }

    /// What handles of the dataset at an address share, if chunks of it may be in memory.
    pub(super) fn storage(&self, address: u64) -> Option<Arc<DatasetStorage>> {
        self.open.lock().datasets.get(&address).map(|(storage, _)| storage.clone())
    }

    /// The shelf of a dataset.
    pub(super) fn shelf(&self, storage: &Arc<DatasetStorage>, layout: Arc<ChunkLayout>) -> ChunkShelf {
        let mut open = self.open.lock();
        if let Some((_, shelf)) = open.datasets.get(&storage.address()).filter(|(known, _)| Arc::ptr_eq(known, storage))
        {
            return shelf.clone();
        }
        // Those that nobody has and that are empty go when there are twice as many as before.
        if open.datasets.len() == open.datasets.capacity() {
            self.sweep(&mut open);
        }
        let shelf = self.cache.open(Arc::new(ChunkSource::new(storage.clone(), layout)), None, None);
        open.datasets.insert(storage.address(), (storage.clone(), shelf.clone()));
        shelf
    }

    fn sweep(&self, open: &mut Open) {
        open.datasets.retain(|_, (storage, shelf)| !self.close_unused(storage, shelf));
        open.gone.retain(|(storage, shelf)| !self.close_unused(storage, shelf));
    }

    /// Closes the shelf of a dataset that no handle uses any more, if it is empty; whether it did.
    fn close_unused(&self, storage: &Arc<DatasetStorage>, shelf: &ChunkShelf) -> bool {
        // The shelf has it, and the table.
        let unused = Arc::strong_count(storage) <= 2 && shelf.is_empty();
        if unused {
            self.cache.close(shelf);
        }
        unused
    }

    /// Keeps a shelf that is still used, apart from those of datasets that can be opened.
    fn retire(&self, open: &mut Open, storage: Arc<DatasetStorage>, shelf: ChunkShelf) {
        if open.gone.len() == open.gone.capacity() {
            open.gone.retain(|(storage, shelf)| !self.close_unused(storage, shelf));
        }
        open.gone.push((storage, shelf));
    }

    /// Handles of the dataset at an address that are opened from now on read it anew. Those that are there keep what they know.
    pub(super) fn renew(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((storage, shelf)) = open.datasets.remove(&address) {
            shelf.evict();
            if !self.close_unused(&storage, &shelf) {
                self.retire(&mut open, storage, shelf);
            }
        }
    }

    /// The dataset at an address is no more. Waits for nobody, since this is part of an operation.
    pub(super) fn forget(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((storage, shelf)) = open.datasets.remove(&address) {
            shelf.abandon();
            // Nothing is loaded for a dataset that is no more. Chunks that a thread has in hand leave when it lets go.
            match shelf.is_empty() {
                true => self.cache.close(&shelf),
                false => self.retire(&mut open, storage, shelf),
            }
        }
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("datasets", &self.datasets.len()).field("gone", &self.gone.len()).finish()
    }
}
