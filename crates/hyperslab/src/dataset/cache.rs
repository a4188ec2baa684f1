//! What the chunk cache of the file has of a dataset. What it does is in `docs/chunk-cache.md`.

use super::Dataset;
use crate::{CachePolicy, Result};

impl Dataset {
    /// Writes its values that only the cache has to the file. After [`File::flush`](crate::File::flush), they can be read whatever happens to this process.
    pub fn flush(&self) -> Result<()> {
        self.open.settle()
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

    /// How many bytes of it the cache keeps while other datasets have more than their share, instead of what the file's
    /// [`CacheConfig`](crate::CacheConfig) says. For all handles of the dataset, until the last one is dropped.
    pub fn set_cache_reserve(&self, bytes: usize) -> Result<()> {
        self.open.set_cache_reserve(bytes)
    }

    /// Which of its chunks leave the cache first, instead of what the file's [`CacheConfig`](crate::CacheConfig) says. For all handles of the dataset, until
    /// the last one is dropped.
    pub fn set_cache_policy(&self, policy: CachePolicy) -> Result<()> {
        self.open.set_cache_policy(policy)
    }
}
