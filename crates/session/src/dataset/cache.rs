//! What requests leave in the cache, and how it goes.

use hyperslab_cache::{LockRange, Policy};
use hyperslab_chunk::ChunkPartition;

use super::OpenDataset;
use crate::{CacheStatistics, Result};

impl OpenDataset {
    /// Writes its values that only the cache has; then the cache has nothing of it.
    pub fn evict(&self) -> Result<()> {
        // Readers of a file that never changes take no range locks: what they have in hand stays.
        if self.session().engine.is_writable() {
            return self.lock_all().map(drop);
        }
        self.partition()?.map(ChunkPartition::evict);
        Ok(())
    }

    /// Forgets what the cache has of it, also what was never written to the file.
    pub fn discard(&self) -> Result<()> {
        let Some(partition) = self.partition()? else { return Ok(()) };
        let is_writable = self.session().engine.is_writable();
        if is_writable {
            self.session().check_changeable()?;
        }
        let _guard = is_writable.then(|| partition.enter(LockRange::Whole, true));
        self.discard_chunks(partition)
    }

    /// What the chunk cache did for it so far. Nothing if none of its values ever are there: it is virtual, or compact or external in a file that is only read.
    pub fn cache_statistics(&self) -> Result<CacheStatistics> {
        Ok(self.partition()?.map(ChunkPartition::statistics).unwrap_or_default())
    }

    /// Counts anew from now on what the chunk cache does for it. The counters of the file go on.
    pub fn reset_cache_statistics(&self) -> Result<()> {
        self.partition()?.into_iter().for_each(ChunkPartition::reset_statistics);
        Ok(())
    }

    /// Counts values that went between file and caller, past the cache.
    pub(super) fn count_bypass(&self, bytes: u64) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.count_bypass(bytes));
        Ok(())
    }

    /// Keeps so many bytes of the cache for this dataset.
    pub fn set_cache_reserve(&self, bytes: usize) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_reserve(bytes));
        Ok(())
    }

    /// Lets its chunks take at most so many bytes of the cache.
    pub fn set_cache_limit(&self, bytes: usize) -> Result<()> {
        let cache = &self.session().engine.partitions.cache;
        self.partition()?.into_iter().for_each(|partition| cache.set_limit(partition, bytes));
        Ok(())
    }

    /// Which of its chunks leave the cache first.
    pub fn set_cache_policy(&self, policy: Policy) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_policy(policy));
        Ok(())
    }
}
