//! The chunks of a file in memory, by dataset.

use std::{collections::HashMap, sync::Arc};

use hyperslab_chunk::{ChunkCache, ChunkLayout, ChunkPartition, ChunkSource, DatasetStorage};
use parking_lot::Mutex;

/// The chunk cache of a file, and the datasets that may have chunks there.
#[derive(Debug)]
pub(crate) struct Partitions {
    pub(crate) cache: ChunkCache,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By the address of the header.
    datasets: HashMap<u64, (Arc<DatasetStorage>, ChunkPartition)>,
    /// Of datasets that are no more, or were read anew, while some thread or handle uses them.
    gone: Vec<(Arc<DatasetStorage>, ChunkPartition)>,
}

impl Partitions {
    pub(crate) fn new(cache: ChunkCache) -> Partitions {
        Partitions { cache, open: Mutex::default() }
    }

    /// What handles of the dataset at an address share, if chunks of it may be in memory.
    pub(super) fn storage(&self, address: u64) -> Option<Arc<DatasetStorage>> {
        self.open.lock().datasets.get(&address).map(|(storage, _)| storage.clone())
    }

    /// Whether the file has all chunks of the dataset at an address as they are now.
    pub(crate) fn is_written(&self, address: u64) -> bool {
        let partition = self.open.lock().datasets.get(&address).map(|(_, partition)| partition.clone());
        partition.is_some_and(|partition| self.cache.is_written(&partition))
    }

    /// The partition of a dataset.
    pub(super) fn partition(&self, storage: &Arc<DatasetStorage>, layout: Arc<ChunkLayout>) -> ChunkPartition {
        let mut open = self.open.lock();
        if let Some((_, partition)) =
            open.datasets.get(&storage.address()).filter(|(known, _)| Arc::ptr_eq(known, storage))
        {
            return partition.clone();
        }
        // Those without handles that are empty go when there are twice as many as before.
        if open.datasets.len() == open.datasets.capacity() {
            self.sweep(&mut open);
        }
        let partition = self.cache.open(Arc::new(ChunkSource::new(storage.clone(), layout)), None, None);
        open.datasets.insert(storage.address(), (storage.clone(), partition.clone()));
        partition
    }

    fn sweep(&self, open: &mut Open) {
        open.datasets.retain(|_, (storage, partition)| !self.close_unused(storage, partition));
        open.gone.retain(|(storage, partition)| !self.close_unused(storage, partition));
    }

    /// Closes the partition of a dataset that no handle uses any more, if it is empty; whether it did.
    fn close_unused(&self, storage: &Arc<DatasetStorage>, partition: &ChunkPartition) -> bool {
        // The partition has it, and the table.
        let unused = Arc::strong_count(storage) <= 2 && partition.is_empty();
        if unused {
            self.cache.close(partition);
        }
        unused
    }

    /// Keeps a partition that is still used, apart from those of datasets that can be opened.
    fn retire(&self, open: &mut Open, storage: Arc<DatasetStorage>, partition: ChunkPartition) {
        if open.gone.len() == open.gone.capacity() {
            open.gone.retain(|(storage, partition)| !self.close_unused(storage, partition));
        }
        open.gone.push((storage, partition));
    }

    /// Handles of the dataset at an address that are opened from now on read it anew. Those that are there keep what they know.
    pub(super) fn renew(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((storage, partition)) = open.datasets.remove(&address) {
            partition.evict();
            if !self.close_unused(&storage, &partition) {
                self.retire(&mut open, storage, partition);
            }
        }
    }

    /// Lets the chunks of a dataset leave if no handle uses it; whether all of them did. Those that the file does not have stay.
    pub(crate) fn release(&self, address: u64) -> bool {
        let mut open = self.open.lock();
        let Some((storage, partition)) = open.datasets.get(&address) else { return true };
        let is_unused = Arc::strong_count(storage) <= 2;
        let leaves = is_unused && partition.evict() == 0 && self.close_unused(storage, partition);
        if leaves {
            open.datasets.remove(&address);
        }
        leaves
    }

    /// The dataset at an address is no more. Does not wait, since this is part of an operation.
    pub(super) fn forget(&self, address: u64) {
        let mut open = self.open.lock();
        if let Some((storage, partition)) = open.datasets.remove(&address) {
            partition.abandon();
            // Nothing is loaded for a dataset that is no more. Chunks that a thread has in hand leave when it lets go.
            match partition.is_empty() {
                true => self.cache.close(&partition),
                false => self.retire(&mut open, storage, partition),
            }
        }
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("datasets", &self.datasets.len()).field("gone", &self.gone.len()).finish()
    }
}
