//! Chunks on their way to the file: space, bytes, index, in this order.
//!
//! A chunk keeps its bytes until the index names another place: a write that fails in the middle leaves it as it was, and the next flush may tell the file
//! of all that was written before.

use std::borrow::Cow;

use hyperslab_file::{Kind, OpenFile};
use hyperslab_format::ChunkEntry;
use hyperslab_space::Coords;

use crate::{Chunked, Error, Result, index::Change};

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
    changes: Vec<Change>,
    gone: Vec<(u64, u64)>,
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
}

impl Chunked {
    /// Writes chunks, by rising place, with one request, and enters them in the index. Whether the layout message must say something new.
    pub(crate) fn publish(&mut self, file: &OpenFile, made: &[Made<'_>]) -> Result<bool> {
        let reserved = file.tentative(|| self.write_made(file, made))?;
        self.enter_reserved(file, reserved)
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
        let most = self.shape().most_bytes(self.kind, file.widths().lengths);
        if let Some(large) = made.iter().find(|one| one.size as u64 > most) {
            let why = format!("chunk {:?} takes {} bytes, its index has room for {most}", large.place, large.size);
            return Err(Error::Layout(why));
        }
        let mut reserved = Reserved::default();
        for one in made {
            let address = self.place_for(file, one, &mut reserved.gone)?;
            reserved.addresses.push(address);
            let entry = ChunkEntry { start: Vec::new(), address: Some(address), size: one.size as u64, mask: one.mask };
            reserved.changes.push((one.place.clone(), entry));
        }
        Ok(reserved)
    }

    /// Enters chunks that are in the file in the index, and gives their old space back. Whether the layout message must say something new.
    pub(crate) fn enter_reserved(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool> {
        let moved = self.enter(file, &reserved.changes)?;
        reserved.gone.into_iter().try_for_each(|(address, length)| file.free_values(address, length))?;
        Ok(moved)
    }

    /// Changes the index.
    pub(crate) fn enter(&mut self, file: &OpenFile, changes: &[Change]) -> Result<bool> {
        // The index is changed apart from the rest, which is asked for its shape meanwhile.
        let mut index = std::mem::replace(&mut self.index, crate::Index::Empty);
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
