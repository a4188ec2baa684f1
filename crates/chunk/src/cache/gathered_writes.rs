//! Small chunks that are written one by one wait for each other in the cache, and leave together.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ChunkCache, ChunkPartition};

/// So many leave together. One request and one change of the index serve all of them, and together they are in the caches of a core.
const TOGETHER: usize = 1024;

/// How many whole chunks without filters have come since some left together.
#[derive(Debug, Default)]
pub(super) struct GatheredWrites(AtomicUsize);

impl GatheredWrites {
    /// So many more; whether it is time that they leave.
    fn add(&self, count: usize) -> bool {
        let before = self.0.fetch_add(count, Ordering::Relaxed);
        let is_time = before.saturating_add(count) >= TOGETHER;
        if is_time {
            self.0.store(0, Ordering::Relaxed);
        }
        is_time
    }
}

impl ChunkCache {
    /// So many chunks of a dataset were written that wait for others. If they are enough, all of them leave; why some cannot be written is told by the next flush.
    pub(super) fn gather(&self, partition: &ChunkPartition, count: u64) {
        if partition.source().gathered.add(usize::try_from(count).unwrap_or(TOGETHER)) {
            drop(self.write_back(partition.source().file(), partition.take_whole()));
        }
    }
}
