//! A chunk that the caller encoded itself: past the filters, and past the cache.

use std::{borrow::Cow, thread};

use hyperslab_cache::LoadTicket;
use hyperslab_file::OpenFile;

use super::{ChunkCache, ChunkPartition};
use crate::{ChunkCoord, EncodedChunk, Error, ResidentChunk, Result, Storage, Storer};

impl ChunkCache {
    /// Stores bytes as the chunk at a coordinate; they went through the filters already, but for those of `mask`. The caller holds the range lock for all of the chunk, of
    /// which the cache forgets what it has.
    pub fn write_chunk(
        &self,
        file: &OpenFile,
        partition: &ChunkPartition,
        coord: &[u64],
        mask: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let (storage, coord): (_, ChunkCoord) = (partition.source().storage(), coord.into());
        let filtered = {
            let view = storage.live_view()?;
            let Storage::Chunked(chunked) = &view.values()?.storage else {
                return Err(Error::Layout("it is not chunked".into()));
            };
            chunked.check_chunk(file, &coord, mask, bytes.len())?;
            chunked.is_filtered(&coord, &view.extent)
        };
        let _alone = self.take_out(partition, &coord);
        partition.count_bypass(bytes.len() as u64);
        let chunk = EncodedChunk::dense(coord, Cow::Borrowed(bytes), mask, filtered);
        Storer::new(file).store_all(&[(storage, vec![&chunk])])
    }

    /// Lets a chunk leave, and keeps other threads from loading it. Its values are in the file then, unless they cannot be written.
    fn take_out(&self, partition: &ChunkPartition, coord: &ChunkCoord) -> LoadTicket<ResidentChunk> {
        let is_it = |other: &ChunkCoord| other == coord;
        loop {
            if let Some(ticket) = partition.vacant(coord) {
                return ticket;
            }
            match self.flush_chunk(partition, coord) {
                Ok(()) => partition.abandon_where(&is_it),
                Err(_) => self.discard(partition, &is_it),
            }
            // Another thread may still hold it: a flush, or a request that has just released its range lock.
            thread::yield_now();
        }
    }
}
