//! What the chunk cache of the file has of a dataset. What it does is in `docs/chunk-cache.md`.

use super::Dataset;
use crate::{CachePolicy, CacheStatistics, Result};

impl Dataset {
    /// Writes its values that only the cache has to the file. After [`File::flush`](crate::File::flush), they can be read whatever happens to this process.
    pub fn flush(&self) -> Result<()> {
        self.open.flush_chunks()
    }

    /// As [`Dataset::flush`]; then the cache has nothing of it.
    pub fn evict(&self) -> Result<()> {
        self.open.evict()
    }

    /// Forgets values that only the cache has: from then on the dataset is as the file has it. For values that cannot be stored, because a
    /// mandatory filter refuses them or the storage is full; [`File::flush`](crate::File::flush) tells which those are.
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
        self.open.discard()
    }

    /// What the chunk cache of the file did for this dataset so far, by all of its handles. [`File::cache_statistics`](crate::File::cache_statistics) has the
    /// sums of all datasets. All is zero if none of its values ever are in the cache: those of a virtual dataset are counted for its sources.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// # let root = file.root()?;
    /// let cold = root.new_dataset::<i32>().shape([64, 64]).chunks([8, 64]).deflate(1).create("cold")?;
    /// let warm = root.new_dataset::<i32>().shape([64, 64]).chunks([8, 64]).deflate(1).create("warm")?;
    /// warm.write_slice(hyperslab::s![3, ..], &[7; 64])?;
    /// for row in 0..8 {
    ///     warm.read_slice::<i32>(hyperslab::s![row, ..])?;
    /// }
    /// let seen = warm.cache_statistics()?;
    /// assert!(seen.limit == 0 || (seen.hits, seen.misses, seen.loads) == (8, 1, 0));
    /// warm.reset_cache_statistics()?;
    /// assert_eq!(warm.cache_statistics()?.hits, 0);
    /// assert_eq!(cold.cache_statistics()?.bytes, 0);
    /// assert_eq!(file.cache_statistics().hits, seen.hits);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn cache_statistics(&self) -> Result<CacheStatistics> {
        self.open.cache_statistics()
    }

    /// Counts anew from now on what the chunk cache does for this dataset. The sums of the file go on.
    pub fn reset_cache_statistics(&self) -> Result<()> {
        self.open.reset_cache_statistics()
    }

    /// How many bytes of it the cache keeps while other datasets have more than their share, instead of what the file's
    /// [`CacheConfig`](crate::CacheConfig) says. For all handles of the dataset, until the last one is dropped.
    pub fn set_cache_reserve(&self, bytes: usize) -> Result<()> {
        self.open.set_cache_reserve(bytes)
    }

    /// How many bytes of the cache its chunks may take at most, instead of what the file's [`CacheConfig`](crate::CacheConfig) says. At its limit, a dataset lets
    /// its own chunks go, not those of others; a chunk that is larger never comes in, and 0 keeps the dataset out. Chunks that are too many leave at once, as far as
    /// they can be written. For all handles of the dataset, until the last one is dropped.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([4096, 64]).chunks([64, 64]).deflate(1).create("rows")?;
    /// rows.set_cache_limit(100_000)?;
    /// for row in 0..4096 {
    ///     rows.write_slice(hyperslab::s![row, ..], &[row; 64])?;
    /// }
    /// assert!(rows.cache_statistics()?.peak_bytes <= 100_000);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn set_cache_limit(&self, bytes: usize) -> Result<()> {
        self.open.set_cache_limit(bytes)
    }

    /// Which of its chunks leave the cache first, instead of what the file's [`CacheConfig`](crate::CacheConfig) says. For all handles of the dataset, until
    /// the last one is dropped.
    pub fn set_cache_policy(&self, policy: CachePolicy) -> Result<()> {
        self.open.set_cache_policy(policy)
    }
}
