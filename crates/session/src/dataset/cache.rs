//! What requests leave in the cache, and how it goes.

use hyperslab_cache::{LockRange, Policy};
use hyperslab_chunk::ChunkPartition;

use super::OpenDataset;
use crate::Result;

impl OpenDataset {
    /// Writes its values that only the cache has; then the cache has nothing of it.
    pub fn evict(&self) -> Result<()> {
        // Readers of a file that never changes take no turns: what they have in hand stays.
        if self.session().engine.is_writable() {
            return self.turn_alone().map(drop);
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
        let _turn = is_writable.then(|| partition.enter(LockRange::Whole, true));
        self.session().engine.partitions.cache.discard(partition, &|_| true);
        Ok(())
    }

    /// Keeps so many bytes of the cache for this dataset.
    pub fn set_cache_reserve(&self, bytes: usize) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_reserve(bytes));
        Ok(())
    }

    /// Which of its chunks leave the cache first.
    pub fn set_cache_policy(&self, policy: Policy) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_policy(policy));
        Ok(())
    }
}
