//! Values through the chunk cache.
//!
//! Lives here: what of a request goes through the cache and what past it, and how chunks come in and leave. Does not live here: which thread waits for
//! which, and which chunk leaves first (`hyperslab-cache`). Called by `hyperslab`, always before an operation and never in one: a thread that changes the
//! file waits for no chunk.

mod chunk_source;
mod complete;
mod defined;
mod defined_count;
mod element_numbers;
mod encode_ahead;
mod failures;
mod fetch;
mod footprint;
mod gathered_writes;
mod io_path;
mod portions;
mod prefetch;
mod reach;
mod read;
mod read_ahead;
mod read_defined;
mod reuse_counter;
mod strips;
mod visit;
mod workers;
mod write;
mod write_back;
mod write_chunk;

use std::sync::Arc;

use hyperslab_cache::{Cache, Config, Eviction, Grant, Policy, ReadAhead, Statistics, Unwritten, Withdrawal};
use hyperslab_file::OpenFile;
use hyperslab_space::Coords;

use crate::{ResidentChunk, Result};

pub use self::chunk_source::{ChunkPartition, ChunkSource};
use self::{gathered_writes::GatheredWrites, read_ahead::AccessPattern, reuse_counter::ReuseCounter};

/// What a request leaves in the cache. What is there already is used in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Chunks that are worth it.
    #[default]
    Worthy,
    /// Nothing new.
    Nothing,
}

/// How a request goes.
#[derive(Clone, Copy, Debug)]
pub struct RequestOptions<'a> {
    /// What it leaves in the cache.
    pub keep: Keep,
    /// The file of the dataset, with the options that go to the storage with the values of this request.
    pub file: &'a OpenFile,
}

/// The dataset of a request: its file, with the options of the request, and its chunks.
type Dataset<'a> = (&'a OpenFile, &'a ChunkPartition);

/// Chunks that a request takes away, until it has succeeded.
pub type Withdrawn = Withdrawal<ResidentChunk>;

/// The chunk cache of a file. Any number of threads may use it at once.
pub struct ChunkCache {
    cache: Arc<Cache<ResidentChunk>>,
    ahead: encode_ahead::EncodeAhead,
    reads_ahead: ReadAhead,
    encodes_ahead: bool,
    workers: workers::Workers,
}

impl ChunkCache {
    /// An empty one.
    pub fn new(config: Config) -> ChunkCache {
        let (ahead, workers) = Default::default();
        let (reads_ahead, encodes_ahead) = (config.reads_ahead(), config.encodes_ahead());
        ChunkCache { cache: Arc::new(Cache::new(config)), ahead, reads_ahead, encodes_ahead, workers }
    }

    /// A partition for a dataset, with what the cache's own settings are if nothing is said.
    pub fn open(&self, source: Arc<ChunkSource>, reserve: Option<usize>, policy: Option<Policy>) -> ChunkPartition {
        self.cache.open(source, reserve, policy)
    }

    /// Closes the partition of a dataset without chunks that no handle uses any more.
    pub fn close(&self, partition: &ChunkPartition) {
        self.cache.close(partition);
    }

    /// What it did so far, for all datasets; [`ChunkPartition`] tells it for one.
    pub fn statistics(&self) -> Statistics {
        self.cache.statistics()
    }

    /// Counts anew from now on, for the file and for each dataset.
    pub fn reset_statistics(&self) {
        self.cache.reset_statistics();
    }

    /// Writes all chunks that are not in the file yet, as many as can be written. If some cannot, the error names one: they stay in memory.
    /// The requests have the options of `file`.
    pub fn flush(&self, file: &OpenFile) -> Result<()> {
        self.write_all(file, Unwritten::of_cache(&self.cache))
    }

    /// Writes all chunks of a dataset that are not in the file yet, as [`ChunkCache::flush`] does.
    pub fn flush_partition(&self, partition: &ChunkPartition) -> Result<()> {
        self.write_all(partition.source().file(), Unwritten::of(std::slice::from_ref(partition), |_| true))
    }

    /// Writes a chunk, if it is not in the file yet.
    pub fn flush_chunk(&self, partition: &ChunkPartition, coord: &[u64]) -> Result<()> {
        self.write_all(partition.source().file(), Unwritten::at(partition, &coord.into()))
    }

    /// As [`ChunkCache::flush_partition`], but for some chunks.
    pub fn flush_but(&self, partition: &ChunkPartition, left: &dyn Fn(&Coords) -> bool) -> Result<()> {
        let unwritten = Unwritten::of(std::slice::from_ref(partition), |coord| !left(coord));
        self.write_all(partition.source().file(), unwritten)
    }

    /// Whether the file has all chunks of a dataset as they are now.
    pub fn is_written(&self, partition: &ChunkPartition) -> bool {
        Unwritten::of(std::slice::from_ref(partition), |_| true).is_empty()
    }

    /// Writes chunks, or waits until other threads did. What another thread fails to write is tried here: it is in the file, or the error tells why not.
    fn write_all(&self, file: &OpenFile, mut unwritten: Unwritten<ResidentChunk>) -> Result<()> {
        let mut failures = self.write_back(file, unwritten.take());
        while !unwritten.is_empty() {
            unwritten.wait();
            failures.merge(self.write_back(file, unwritten.take()));
        }
        failures.into_result()
    }

    /// Writes all chunks of a dataset that are not in the file yet, and forgets all. Only for a request that is alone with the dataset. If it takes some chunks
    /// away, as `goes` says, those of them that cannot be written are handed out: the cache forgets them when the request has succeeded.
    pub fn empty_partition(&self, partition: &ChunkPartition, goes: &dyn Fn(&Coords) -> bool) -> Result<Withdrawn> {
        // Chunks that another thread has in hand leave when it lets go.
        while partition.evict() > 0 {
            if self.flush_partition(partition).is_ok() {
                continue;
            }
            self.flush_but(partition, goes)?;
            let withdrawn = partition.withdraw_where(goes);
            while partition.evict() > withdrawn.len() {
                self.flush_but(partition, goes)?;
            }
            return Ok(withdrawn);
        }
        Ok(Withdrawn::none())
    }

    /// Forgets chunks of a dataset, also those that are not in the file: they are as the file has them from then on. Only for a request that is alone with
    /// the dataset.
    pub fn discard(&self, partition: &ChunkPartition, goes: &dyn Fn(&Coords) -> bool) {
        loop {
            partition.abandon_where(goes);
            let unwritten = Unwritten::of(std::slice::from_ref(partition), goes);
            if unwritten.is_empty() {
                return;
            }
            // A flush or the encoder in the background has some, and lets go soon.
            unwritten.wait();
            std::thread::yield_now();
        }
    }

    /// What chunks of a dataset may take from now on, beside the limits of the cache. Those that are too many leave, as far as they can be written.
    pub fn set_limit(&self, partition: &ChunkPartition, bytes: usize) {
        partition.set_limit(bytes);
        loop {
            let taken = partition.trim();
            if taken.is_empty() {
                return;
            }
            drop(self.write_back(partition.source().file(), taken));
        }
    }

    /// What chunks of a dataset may take at most, however large the cache becomes.
    fn largest(&self, partition: &ChunkPartition) -> usize {
        self.cache.largest().min(partition.limit())
    }

    /// What chunks of a dataset may take now, beside those that could not be written.
    fn available(&self, partition: &ChunkPartition) -> usize {
        self.cache.available().min(partition.limit())
    }

    /// Room for chunks of a dataset that come, which others leave if need be. There is none if chunks that cannot be written are in the way, or if all that the
    /// dataset may have is in use: then the request goes past the cache. Why they cannot be written is told by the flush that tries again, not by a request that has nothing to do with them.
    fn room<'a>(&'a self, partition: &'a ChunkPartition, bytes: usize) -> Option<Grant<'a>> {
        loop {
            match self.cache.make_room(partition, bytes) {
                Eviction::Granted(grant) => return Some(grant),
                Eviction::Dirty(taken) => drop(self.write_back(partition.source().file(), taken)),
                Eviction::Full => return None,
            }
        }
    }
}

impl std::fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.statistics().fmt(f)
    }
}
