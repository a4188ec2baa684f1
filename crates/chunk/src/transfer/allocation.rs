//! Space for chunks, and their entries in the index: what comes before a chunk is written, and what comes after.

use std::collections::HashMap;

use hyperslab_file::{Kind, OpenFile};
use hyperslab_format::ChunkEntry;

use super::{ChunkCoord, EncodedChunk, job::Job};
use crate::{Chunked, Error, Index, Result, index::Change};

/// Space for chunks that the index does not name yet.
#[derive(Debug, Default)]
pub(crate) struct Allocation {
    /// Where each chunk goes, in the order in which they were given; nowhere, if it has nothing.
    pub(crate) addresses: Vec<Option<u64>>,
    /// What the index will say.
    pub(crate) changes: Vec<Change>,
    /// The old space of the chunks: address and length.
    pub(crate) replaced: Vec<(u64, u64)>,
}

/// Where chunks go that are stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// To new space, in any case.
    Never,
    /// Those without filters over their old bytes, the others to new space.
    Unfiltered,
}

impl Allocation {
    /// Adds space for more chunks.
    pub(crate) fn append(&mut self, more: Allocation) {
        self.addresses.extend(more.addresses);
        self.changes.extend(more.changes);
        self.replaced.extend(more.replaced);
    }

    /// Finds out again what the chunks replace: the index has changed since.
    pub(crate) fn renew(&mut self, file: &OpenFile, chunked: &Chunked) -> Result<()> {
        let coords: Vec<ChunkCoord> = self.changes.iter().map(|(coord, _)| coord.clone()).collect();
        self.replaced.clear();
        for old in chunked.index.find_all(file, &coords, chunked.chunk())?.into_iter().flatten() {
            if let Some(address) = old.address {
                file.check("chunk", address, old.size())?;
                self.replaced.push((address, old.size()));
            }
        }
        Ok(())
    }

    /// Gives the space back: there is no index any more.
    pub(crate) fn abandon(self, file: &OpenFile) -> Result<()> {
        let release = |(_, entry): &Change| match entry.address {
            Some(address) => file.release_values(address, entry.size()),
            None => Ok(()),
        };
        Ok(self.changes.iter().try_for_each(release)?)
    }

    /// These chunks were made of what `jobs` read, too, and the index will name those that were `made` of the jobs before it names these.
    pub(crate) fn follow(&mut self, jobs: &[Job<'_>], made: &Allocation) {
        let moved =
            |(job, (_, new)): (&Job<'_>, &Change)| Some((job.old.as_ref()?.address?, (new.address?, new.size())));
        let moved: HashMap<u64, (u64, u64)> = jobs.iter().zip(&made.changes).filter_map(moved).collect();
        for replaced in &mut self.replaced {
            *replaced = moved.get(&replaced.0).copied().unwrap_or(*replaced);
        }
    }
}

impl Chunked {
    /// Takes space for chunks, by rising coordinate, of which the index says `old` so far.
    pub(crate) fn allocate(
        &self,
        file: &OpenFile,
        chunks: &[&EncodedChunk<'_>],
        old: Vec<Option<ChunkEntry>>,
        overwrite: Overwrite,
    ) -> Result<Allocation> {
        chunks.iter().try_for_each(|chunk| self.check_size(file, &chunk.coord, chunk.sections.bytes()))?;
        let mut allocation = Allocation::default();
        for (chunk, old) in chunks.iter().zip(old) {
            let old = old.and_then(|old| Some((old.address?, old.size())));
            if let Some((address, _)) = old.filter(|_| overwrite == Overwrite::Unfiltered && chunk.is_in_place()) {
                allocation.addresses.push(Some(address));
                continue;
            }
            if old.is_none() && chunk.is_nowhere() {
                allocation.addresses.push(None);
                continue;
            }
            if let Some((address, size)) = old {
                file.check("chunk", address, size)?;
                allocation.replaced.push((address, size));
            }
            let size = Some(chunk.sections.bytes()).filter(|_| !chunk.is_nowhere());
            let address = size.map(|size| file.allocate(Kind::Raw, size)).transpose()?;
            allocation.addresses.push(address);
            allocation.changes.push((chunk.coord.clone(), ChunkEntry::new(address, chunk.sections.clone())));
        }
        Ok(allocation)
    }

    /// Refuses a stored chunk with more bytes than the index can tell of.
    pub(crate) fn check_size(&self, file: &OpenFile, coord: &[u64], size: u64) -> Result<()> {
        let most = self.shape().most_bytes(&self.kind, file.widths().lengths);
        if size <= most {
            return Ok(());
        }
        let why = "larger chunks have more room, and sparse ones if their values are of variable length";
        Err(Error::Layout(format!(
            "chunk {coord:?} would take {size} bytes in the file, and its index has room for {most}: {why}"
        )))
    }

    /// Enters chunks that are in the file in the index, and gives their old space back. Whether the layout message must say something new.
    pub(crate) fn insert(&mut self, file: &OpenFile, allocation: Allocation) -> Result<bool> {
        let moved = self.change_index(file, &allocation.changes)?;
        allocation.replaced.into_iter().try_for_each(|(address, length)| file.free_values(address, length))?;
        Ok(moved)
    }

    /// Changes the index. Whether the layout message must say something new.
    pub(crate) fn change_index(&mut self, file: &OpenFile, changes: &[Change]) -> Result<bool> {
        if changes.is_empty() {
            return Ok(false);
        }
        // The index is changed apart from the rest, which is asked for its shape meanwhile.
        let mut index = std::mem::replace(&mut self.index, Index::Empty);
        let changed = index.change(file, &self.kind, &self.shape(), changes);
        self.index = index;
        self.generation += 1;
        Ok(changed?)
    }
}
