//! The chunk cache of a file, as users see and set it. What it does is in `docs/chunk-cache.md`.

pub use hyperslab_cache::{Config as CacheConfig, Policy as CachePolicy, Statistics as CacheStatistics};

use hyperslab_cache::LockRange;
use hyperslab_chunk::ChunkPartition;

use crate::{Dataset, File, Result};

impl File {
    /// What the chunk cache did so far, and how much memory it has.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([64, 64]).chunks([64, 64]).deflate(1).create("rows")?;
    /// for row in 0..64 {
    ///     rows.write_slice(hyperslab::s![row, ..], &[row; 64])?;
    /// }
    /// assert_eq!(rows.read_slice::<i32>(hyperslab::s![7, 5])?, [7]);
    /// let seen = file.cache_statistics();
    /// assert!(seen.bytes == 0 || (seen.hits, seen.misses, seen.written) == (64, 1, 0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.inner.partitions.cache.statistics()
    }
}

impl Dataset {
    /// Writes its values that only the cache has to the file. After [`File::flush`], they can be read whatever happens to this process.
    pub fn flush(&self) -> Result<()> {
        self.settle()
    }

    /// As [`Dataset::flush`]; then the cache has nothing of it.
    pub fn evict(&self) -> Result<()> {
        // Readers of a file that never changes take no turns: what they have in hand stays.
        if self.file().inner.is_writable() {
            return self.turn_alone().map(drop);
        }
        self.partition()?.map(ChunkPartition::evict);
        Ok(())
    }

    /// Forgets values that only the cache has: from then on the dataset is as the file has it. For values that cannot be stored, because a
    /// mandatory filter refuses them or the storage is full; [`File::flush`] tells which those are.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<u8>().shape([64]).chunks([64]).deflate(1).create("rows")?;
    /// rows.write(&[1; 64])?;
    /// file.flush()?;
    /// rows.write_slice(..9, &[2; 9])?;
    /// rows.discard()?;
    /// let kept = file.cache_statistics().limit == 0; // without a cache, the values are in the file at once
    /// assert_eq!(rows.read_slice::<u8>(..2)?, if kept { [2, 2] } else { [1, 1] });
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn discard(&self) -> Result<()> {
        let Some(partition) = self.partition()? else { return Ok(()) };
        let is_writable = self.file().inner.is_writable();
        if is_writable {
            self.file().check_changeable()?;
        }
        let _turn = is_writable.then(|| partition.enter(LockRange::Whole, true));
        self.file().inner.partitions.cache.discard(partition, &|_| true);
        Ok(())
    }

    /// How many bytes of it the cache keeps while other datasets have more than their share, instead of what the file's
    /// [`CacheConfig`] says. For all handles of the dataset, until nobody has one.
    pub fn set_cache_reserve(&self, bytes: usize) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_reserve(bytes));
        Ok(())
    }

    /// Which of its chunks leave the cache first, instead of what the file's [`CacheConfig`] says. For all handles of the dataset, until
    /// nobody has one.
    pub fn set_cache_policy(&self, policy: CachePolicy) -> Result<()> {
        self.partition()?.into_iter().for_each(|partition| partition.set_policy(policy));
        Ok(())
    }
}
