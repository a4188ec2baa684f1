//! Chunks on their way to the file: space, bytes, index, in this order.
//!
//! A chunk keeps its bytes until the index names another place: a write that fails in the middle leaves it as it was, and the next flush may tell the file
//! of all that was written before.

use std::{borrow::Cow, collections::HashMap};

use hyperslab_file::{Kind, OpenFile};
use hyperslab_format::{ChunkEntry, message::ChunkIndex};
use hyperslab_space::Coords;

use crate::{Chunked, Error, Filling, Index, Result, index::Change, transfer::make::Job};

/// A chunk as it will be stored.
pub(crate) struct Made<'a> {
    pub(crate) place: Coords,
    /// What the index says so far.
    pub(crate) old: Option<ChunkEntry>,
    /// How many bytes it takes.
    pub(crate) size: usize,
    /// The bytes; none if its space is taken and left as it is.
    pub(crate) bytes: Option<Cow<'a, [u8]>>,
    /// The filters that were left out.
    pub(crate) mask: u32,
}

/// Space for chunks that the index does not know of yet.
#[derive(Debug, Default)]
pub struct Reserved {
    /// Where each chunk goes, in the order in which they were given.
    pub(crate) addresses: Vec<u64>,
    pub(crate) changes: Vec<Change>,
    /// The old space of the chunks: address and length.
    pub(crate) gone: Vec<(u64, u64)>,
}

impl Reserved {
    /// Space that chunks have had before, which nothing must be told of.
    pub(crate) fn before(addresses: Vec<u64>) -> Reserved {
        Reserved { addresses, ..Reserved::default() }
    }

    /// Adds space for more chunks.
    pub(crate) fn append(&mut self, more: Reserved) {
        self.addresses.extend(more.addresses);
        self.changes.extend(more.changes);
        self.gone.extend(more.gone);
    }

    /// These chunks were made of what `jobs` read, too, and the index will name those that were `made` of the jobs before it names these.
    pub(crate) fn follow(&mut self, jobs: &[Job<'_>], made: &Reserved) {
        let place = |(job, (_, new)): (&Job<'_>, &Change)| Some((job.old.as_ref()?.address?, (new.address?, new.size)));
        let moved: HashMap<u64, (u64, u64)> = jobs.iter().zip(&made.changes).filter_map(place).collect();
        for gone in &mut self.gone {
            *gone = moved.get(&gone.0).copied().unwrap_or(*gone);
        }
    }
}

impl Chunked {
    /// Lets `store` take space for chunks and write them, and enters them in the index when all are in the file: nothing has changed if something cannot be
    /// written. If chunks lie one after the other, all have their space before. Whether the layout message must say something new.
    pub(crate) fn publish(
        &mut self,
        file: &OpenFile,
        filling: &Filling<'_>,
        store: impl FnOnce(&Chunked) -> Result<Vec<Reserved>>,
    ) -> Result<bool> {
        let makes_all = self.kind == ChunkIndex::Implicit && matches!(self.index, Index::Empty);
        let stored = file.tentative(|| {
            if makes_all {
                self.index = self.filled_index(file, &self.extent, filling)?;
            }
            store(self)
        });
        if makes_all && stored.is_err() {
            self.index = Index::Empty;
        }
        stored?.into_iter().try_fold(makes_all, |moved, reserved| Ok(self.enter_reserved(file, reserved)? | moved))
    }

    /// Takes space for chunks, by rising place, and writes them with one request.
    pub(crate) fn write_made(&self, file: &OpenFile, made: &[Made<'_>]) -> Result<Reserved> {
        let reserved = self.reserve_for(file, made)?;
        let places = reserved.addresses.iter().zip(made);
        let parts: Vec<_> = places.filter_map(|(address, one)| Some((*address, &**one.bytes.as_ref()?))).collect();
        if !parts.is_empty() {
            file.write_raw("chunk", &parts)?;
        }
        Ok(reserved)
    }

    /// Takes space for chunks, by rising place.
    pub(crate) fn reserve_for(&self, file: &OpenFile, made: &[Made<'_>]) -> Result<Reserved> {
        made.iter().try_for_each(|one| self.check_size(file, &one.place, one.size))?;
        let mut reserved = Reserved::default();
        for one in made {
            let address = self.place_for(file, one, &mut reserved.gone)?;
            reserved.addresses.push(address);
            let entry = ChunkEntry { start: Vec::new(), address: Some(address), size: one.size as u64, mask: one.mask };
            reserved.changes.push((one.place.clone(), entry));
        }
        Ok(reserved)
    }

    /// Refuses a stored chunk with more bytes than the index can tell of.
    pub(crate) fn check_size(&self, file: &OpenFile, place: &[u64], size: usize) -> Result<()> {
        let most = self.shape().most_bytes(self.kind, file.widths().lengths);
        if size as u64 <= most {
            return Ok(());
        }
        Err(Error::Layout(format!("chunk {place:?} takes {size} bytes, its index has room for {most}")))
    }

    /// Enters chunks that are in the file in the index, and gives their old space back. Whether the layout message must say something new.
    pub(crate) fn enter_reserved(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool> {
        let moved = self.enter(file, &reserved.changes)?;
        reserved.gone.into_iter().try_for_each(|(address, length)| file.free_values(address, length))?;
        Ok(moved)
    }

    /// Changes the index.
    pub(crate) fn enter(&mut self, file: &OpenFile, changes: &[Change]) -> Result<bool> {
        if changes.is_empty() {
            return Ok(false);
        }
        // The index is changed apart from the rest, which is asked for its shape meanwhile.
        let mut index = std::mem::replace(&mut self.index, Index::Empty);
        let entered = index.change(file, self.kind, &self.shape(), changes);
        self.index = index;
        Ok(entered?)
    }

    /// Where a chunk goes. Its old space is given back when the index names the new one.
    fn place_for(&self, file: &OpenFile, one: &Made<'_>, gone: &mut Vec<(u64, u64)>) -> Result<u64> {
        if let Some((old, address)) = one.old.as_ref().and_then(|old| Some((old, old.address?))) {
            file.check("chunk", address, old.size)?;
            gone.push((address, old.size));
        }
        Ok(file.allocate(Kind::Raw, one.size as u64)?)
    }
}
