//! Values through the chunk cache.
//!
//! Lives here: what of a request goes through the cache and what past it, and how chunks come in and leave. Does not live here: who waits for
//! whom, and who leaves first (`hyperslab-cache`). Called by `hyperslab`, always before an operation and never in one: whoever changes the
//! file waits for no chunk.

mod chunk;
mod earned;
mod fetch;
mod home;
mod read;
mod spread;
mod way;
mod write;
mod write_out;

use std::sync::Arc;

use hyperslab_cache::{Cache, Claim, Config, Limits, Policy, Room, Shelf, Statistics};

use crate::Result;

pub(crate) use self::earned::Earned;
pub use self::{
    chunk::Chunk,
    home::{ChunkShelf, Home},
};

/// The chunk cache of a file. Any number of threads may use it at once.
pub struct ChunkCache {
    cache: Cache<Chunk>,
}

impl ChunkCache {
    /// An empty one.
    pub fn new(config: Config) -> ChunkCache {
        ChunkCache { cache: Cache::new(config) }
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

    /// How large it may be.
    pub fn limits(&self) -> Limits {
        self.cache.limits()
    }

    /// Writes all chunks that are not in the file yet.
    pub fn flush(&self) -> Result<()> {
        let shelves = self.cache.shelves();
        self.write_out(shelves.iter().flat_map(Shelf::take_dirty).collect())?;
        // Others may be writing some.
        shelves.iter().for_each(Shelf::wait_written);
        Ok(())
    }

    /// Writes all chunks of a dataset that are not in the file yet.
    pub fn flush_shelf(&self, shelf: &ChunkShelf) -> Result<()> {
        self.write_out(shelf.take_dirty())?;
        shelf.wait_written();
        Ok(())
    }

    /// Writes a chunk, if it is not in the file yet.
    pub fn flush_chunk(&self, shelf: &ChunkShelf, place: &[u64]) -> Result<()> {
        self.write_out(shelf.take(&place.into()).into_iter().collect())?;
        shelf.wait_written();
        Ok(())
    }

    /// Writes all chunks of a dataset that are not in the file yet, and forgets all. Only for whoever is alone with the dataset.
    pub fn empty_shelf(&self, shelf: &ChunkShelf) -> Result<()> {
        self.flush_shelf(shelf)?;
        shelf.places().iter().for_each(|place| shelf.discard(place));
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
