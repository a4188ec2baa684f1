//! Chunks to the file: space, bytes, index, in this order.
//!
//! A chunk keeps its bytes until the index names another address: a write that fails in the middle leaves it as it was, and the next flush may
//! tell the file of all that was written before. Called for chunks that leave the cache, for writes past it, for chunks that are stored as they are,
//! and for copies.

use hyperslab_file::OpenFile;
use hyperslab_format::{ChunkEntry, message::ChunkIndex};

use super::{
    EncodedChunk,
    allocation::{Allocation, Overwrite},
};
use crate::{Chunked, Filling, Index, Result};

/// Stores chunks in a file.
#[derive(Clone, Copy)]
pub struct Storer<'a> {
    pub(super) file: &'a OpenFile,
}

impl<'a> Storer<'a> {
    /// A storer for chunks of any datasets of a file.
    pub fn new(file: &'a OpenFile) -> Storer<'a> {
        Storer { file }
    }

    /// Writes chunks to their addresses, if they have some, all with one vector request; the index is told later. Within an operation, or where changes of the file are held off, or to
    /// space that the file does not name.
    pub fn write<'c>(&self, chunks: impl IntoIterator<Item = (Option<u64>, &'c EncodedChunk<'c>)>) -> Result<()> {
        let parts = chunks.into_iter().filter_map(|(address, chunk)| Some((address?, chunk.bytes()?)));
        let parts: Vec<_> = parts.collect();
        if !parts.is_empty() {
            self.file.write_raw("chunk", &parts)?;
        }
        Ok(())
    }

    /// Takes space for chunks of one dataset, of which its index says `old` so far, and writes them. Within a part of an operation that may fail.
    pub(crate) fn store(
        &self,
        chunked: &Chunked,
        chunks: &[&EncodedChunk<'_>],
        old: Vec<Option<ChunkEntry>>,
        overwrite: Overwrite,
    ) -> Result<Allocation> {
        let allocation = chunked.allocate(self.file, chunks, old, overwrite)?;
        self.write(allocation.addresses.iter().copied().zip(chunks.iter().copied()))?;
        Ok(allocation)
    }
}

impl Chunked {
    /// Lets `store` take space for chunks and write them, and enters them in the index when all are in the file: nothing has changed if something cannot be
    /// written. If chunks lie one after the other, all have their space before. Whether the layout message must say something new.
    pub(crate) fn publish(
        &mut self,
        file: &OpenFile,
        filling: &Filling<'_>,
        store: impl FnOnce(&Chunked) -> Result<Vec<Allocation>>,
    ) -> Result<bool> {
        let makes_all = self.kind == ChunkIndex::Implicit && matches!(self.index, Index::Empty);
        let stored = file.tentative(|| {
            if makes_all {
                self.index = self.filled_index(file, &self.extent, filling)?;
                self.generation += 1;
            }
            store(self)
        });
        if makes_all && stored.is_err() {
            self.index = Index::Empty;
        }
        stored?.into_iter().try_fold(makes_all, |moved, allocation| Ok(self.insert(file, allocation)? | moved))
    }
}
