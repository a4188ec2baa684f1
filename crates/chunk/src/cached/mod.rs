//! Values through the chunk cache.
//!
//! Lives here: what of a request goes through the cache and what past it, and how chunks come in and leave. Does not live here: who waits for
//! whom, and who leaves first (`hyperslab-cache`). Called by `hyperslab`, always before an operation and never in one: whoever changes the
//! file waits for no chunk.

mod chunk;
mod copy_out;
mod earned;
mod encode_ahead;
mod fetch;
mod home;
mod prefetch;
mod reach;
mod read;
mod read_ahead;
mod way;
mod workers;
mod write;
mod write_out;

use std::sync::Arc;

use hyperslab_cache::{Cache, Claim, Config, Policy, Room, Shelf, Statistics, Taken};

use crate::Result;

pub use self::{
    chunk::Chunk,
    home::{ChunkShelf, Home},
};
pub(crate) use self::{earned::Earned, read_ahead::Track};

/// What a request leaves in the cache. What is there already is used in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Chunks that are worth it.
    #[default]
    Worthy,
    /// Nothing new.
    Nothing,
}

/// The chunk cache of a file. Any number of threads may use it at once.
pub struct ChunkCache {
    cache: Arc<Cache<Chunk>>,
    ahead: encode_ahead::Ahead,
    reads_ahead: bool,
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

    /// A shelf for a dataset, with what the cache's own settings are if nothing is said.
    pub fn open(&self, home: Arc<dyn Home>, reserve: Option<usize>, policy: Option<Policy>) -> ChunkShelf {
        self.cache.open(home, reserve, policy)
    }

    /// A shelf without chunks that nobody needs any more.
    pub fn close(&self, shelf: &ChunkShelf) {
        self.cache.close(shelf);
    }

    /// What it did so far.
    pub fn statistics(&self) -> Statistics {
        self.cache.statistics()
    }

    /// Writes all chunks that are not in the file yet.
    pub fn flush(&self) -> Result<()> {
        let shelves = self.cache.shelves();
        self.write_all(&shelves, &|| shelves.iter().flat_map(Shelf::take_dirty).collect())
    }

    /// Writes all chunks of a dataset that are not in the file yet.
    pub fn flush_shelf(&self, shelf: &ChunkShelf) -> Result<()> {
        self.write_all(std::slice::from_ref(shelf), &|| shelf.take_dirty())
    }

    /// Writes a chunk, if it is not in the file yet.
    pub fn flush_chunk(&self, shelf: &ChunkShelf, place: &[u64]) -> Result<()> {
        self.write_all(std::slice::from_ref(shelf), &|| shelf.take(&place.into()).into_iter().collect())
    }

    /// Writes what is taken. Others may be writing some of it, which may have been changed since they took it: so it is taken once more when
    /// they are done.
    fn write_all(&self, shelves: &[ChunkShelf], take: &dyn Fn() -> Vec<Taken<Chunk>>) -> Result<()> {
        for _ in 0..2 {
            self.write_out(take())?;
            if shelves.iter().filter(|shelf| shelf.wait_written()).count() == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Writes all chunks of a dataset that are not in the file yet, and forgets all. Only for whoever is alone with the dataset.
    pub fn empty_shelf(&self, shelf: &ChunkShelf) -> Result<()> {
        // What others could not write is left, and is tried here.
        while shelf.evict() > 0 {
            self.flush_shelf(shelf)?;
        }
        Ok(())
    }

    /// Room for chunks that come, which others leave if need be.
    fn room(&self, bytes: usize) -> Result<Claim<'_>> {
        loop {
            match self.cache.make_room(bytes) {
                Room::Claimed(claim) => return Ok(claim),
                Room::Dirty(taken) => self.write_out(taken)?,
            }
        }
    }
}

impl std::fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.statistics().fmt(f)
    }
}
