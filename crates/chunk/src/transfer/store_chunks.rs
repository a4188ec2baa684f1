//! Encoded chunks of any datasets, stored while other threads use the file.
//!
//! ```text
//!  shared operation lock          exclusive     no lock   exclusive
//!  find; write over old bytes  →  allocate  →   write  →  insert
//! ```
//!
//! Dense chunks that lie in the file as they are in memory, and are there, need the first step alone. Called for chunks that leave the cache, and for chunks that a
//! caller encoded itself. Between the steps the index may change, and the dataset may be deleted: what was found is found again then, and the space of a
//! deleted dataset's chunks is free again. No two threads store the same chunk at once: the phases of the cache see to that, and load tickets where a chunk
//! is not in memory.

use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;

use super::{
    ChunkCoord, EncodedChunk, Storer,
    allocation::{Allocation, Overwrite},
};
use crate::{Chunked, DatasetStorage, Error, Result, Storage};

/// Chunks of a dataset, by rising coordinate.
pub(crate) type DatasetChunks<'a> = (&'a DatasetStorage, Vec<&'a EncodedChunk<'a>>);

/// Chunks of a dataset that need new space.
struct Moving<'a> {
    storage: &'a DatasetStorage,
    chunks: Vec<&'a EncodedChunk<'a>>,
    /// What the index said of them.
    old: Vec<Option<ChunkEntry>>,
    /// When it said so.
    generation: u64,
    allocation: Allocation,
}

impl Storer<'_> {
    /// Stores chunks of any datasets, those that need new space all or none. Those of deleted datasets are left out. Not within an operation.
    pub(crate) fn store_all(&self, datasets: &[DatasetChunks<'_>]) -> Result<()> {
        let (mut moving, file) = (self.overwrite(datasets)?, self.file);
        if moving.is_empty() {
            return Ok(());
        }
        let ((), space) = file.take_space(|| moving.iter_mut().try_for_each(|moving| moving.allocate(file)))?;
        self.write(moving.iter().flat_map(Moving::addressed))?;
        space.name(|| {
            // Nothing has changed if one of them cannot be inserted.
            moving.iter_mut().try_for_each(|moving| moving.renew(file))?;
            moving.into_iter().try_for_each(|moving| moving.insert(file))
        })
    }

    /// Writes chunks where they are, with one request. Those that need new space are left.
    fn overwrite<'a>(&self, datasets: &'a [DatasetChunks<'a>]) -> Result<Vec<Moving<'a>>> {
        // Changes wait until the request is done: chunks stay where they are.
        let _held = self.file.reading();
        self.file.check_writable()?;
        let (mut in_place, mut moving) = (Vec::new(), Vec::new());
        for (storage, chunks) in datasets.iter().filter(|(storage, _)| storage.is_alive()) {
            let view = storage.view();
            let values = view.values()?;
            let Storage::Chunked(chunked) = &values.storage else {
                let addresses = values.addresses(self.file, &coords(chunks))?;
                in_place.extend(addresses.into_iter().map(Some).zip(chunks.iter().copied()));
                continue;
            };
            let generation = chunked.generation;
            let (mut moved, mut entries) = (Vec::new(), Vec::new());
            for (chunk, old) in
                chunks.iter().zip(chunked.index.find_all(self.file, &coords(chunks), chunked.chunk())?)
            {
                chunked.check_form(chunk)?;
                match old.as_ref().and_then(|old| old.address).filter(|_| chunk.is_in_place()) {
                    Some(address) => in_place.push((Some(address), *chunk)),
                    None => {
                        moved.push(*chunk);
                        entries.push(old);
                    }
                }
            }
            if !moved.is_empty() {
                let allocation = Allocation::default();
                moving.push(Moving { storage, chunks: moved, old: entries, generation, allocation });
            }
        }
        self.write(in_place)?;
        Ok(moving)
    }
}

impl Moving<'_> {
    fn addressed(&self) -> impl Iterator<Item = (Option<u64>, &EncodedChunk<'_>)> {
        self.allocation.addresses.iter().copied().zip(self.chunks.iter().copied())
    }

    /// Within an operation.
    fn allocate(&mut self, file: &OpenFile) -> Result<()> {
        if !self.storage.is_alive() {
            return Ok(());
        }
        let mut state = self.storage.change()?;
        let chunked = state.chunked_mut()?;
        let old = match chunked.generation == self.generation {
            true => std::mem::take(&mut self.old),
            false => chunked.index.find_all(file, &coords(&self.chunks), chunked.chunk())?,
        };
        self.allocation = chunked.allocate(file, &self.chunks, old, Overwrite::Never)?;
        self.generation = chunked.generation;
        Ok(())
    }

    /// Finds out what the chunks replace, if the index has changed since. Within an operation.
    fn renew(&mut self, file: &OpenFile) -> Result<()> {
        if !self.storage.is_alive() {
            return Ok(());
        }
        let mut state = self.storage.change()?;
        let chunked = state.chunked_mut()?;
        if chunked.generation != self.generation {
            self.chunks.iter().try_for_each(|chunk| chunked.check_form(chunk))?;
            self.allocation.renew(file, chunked)?;
        }
        Ok(())
    }

    /// Within an operation.
    fn insert(self, file: &OpenFile) -> Result<()> {
        match self.storage.is_alive() {
            true => self.storage.change_values(|values| values.insert(file, self.allocation)),
            false => self.allocation.abandon(file),
        }
    }
}

fn coords(chunks: &[&EncodedChunk<'_>]) -> Vec<ChunkCoord> {
    chunks.iter().map(|chunk| chunk.coord.clone()).collect()
}

impl Chunked {
    /// Refuses a chunk that was encoded for another extent.
    fn check_form(&self, chunk: &EncodedChunk<'_>) -> Result<()> {
        let coord = &chunk.coord;
        if self.is_outside(coord, &self.extent) || chunk.filtered != self.is_filtered(coord, &self.extent) {
            return Err(Error::Layout(format!("chunk {coord:?} was encoded before the dataset was resized")));
        }
        Ok(())
    }
}
