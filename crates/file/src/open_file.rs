//! The open file: its bytes by address.

use std::sync::atomic::Ordering;

use hyperslab_base::{Widths, memory};
use hyperslab_driver::{Capabilities, Driver, MemoryType, ReadPart, SelectionPair};
use hyperslab_format::{Superblock, message, superblock::Root};

use crate::{Error, OpenFile, Result, Seal, store::CachedBlock, torn};

impl OpenFile {
    /// What the superblock says.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// How wide addresses and lengths are.
    pub fn widths(&self) -> Widths {
        self.superblock.widths
    }

    /// The bytes before the HDF5 part of the file.
    pub fn user_block(&self) -> u64 {
        self.base
    }

    /// Fills a buffer with bytes of the user block, from an offset in it on.
    pub fn read_user_block(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let (length, end) = (bytes.len() as u64, self.base);
        if offset.checked_add(length).is_none_or(|to| to > end) {
            return Err(Error::Outside { what: "user block", address: offset, length, end });
        }
        Ok(self.raw.read_at(offset, bytes, &self.transfers.any)?)
    }

    /// The end of the file as an address.
    pub fn end(&self) -> u64 {
        match &self.store {
            Some(store) => store.space.lock().allocator.last_end().max(self.seen_end()),
            None => self.seen_end(),
        }
    }

    /// The end of the storage as an address, as it was seen last.
    pub(crate) fn seen_end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// The end of the storage that has the superblock, as an address: where values have a member of their own, it is not the end of all.
    pub fn own_end(&self) -> u64 {
        if !self.raw.capabilities().contains(Capabilities::KINDS_APART) {
            return self.seen_end();
        }
        self.pages.len(&self.transfers.superblock).map_or(self.seen_end(), |length| length.saturating_sub(self.base))
    }

    /// Forgets what was read of a file that is only read: another process may have changed it. What structures decoded is theirs to forget.
    pub fn reload(&self) -> Result<()> {
        if self.store.is_none() {
            self.pages.reload(&self.transfers.any)?;
            self.end.store(self.pages.len(&self.transfers.any)?.saturating_sub(self.base), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where the superblock says that the file ends, as an address.
    pub fn told_end(&self) -> Option<u64> {
        // Stored addresses count from the stored base, which a user block added later does not change.
        self.superblock.end_of_file.map(|end| end.saturating_sub(self.superblock.base))
    }

    /// The object header of the root group.
    pub fn root(&self) -> Result<u64> {
        let root = self.root.get().and_then(Root::header);
        root.ok_or_else(|| Error::broken("superblock", 0, "the file has no root group"))
    }

    /// Where the table of shared messages is, if the file has one.
    pub fn shared_table(&self) -> Option<message::SharedTable> {
        self.shared
    }

    /// The `length` bytes of metadata at `address`, which are a `what`: those by which nothing can be verified. Blocks are [loaded](Self::load).
    pub fn metadata(&self, what: &'static str, address: u64, length: u64) -> Result<Vec<u8>> {
        self.check(what, address, length)?;
        match self.cached_part(address, length)? {
            Some(bytes) => Ok(bytes),
            None => self.stored_metadata(what, address, length),
        }
    }

    /// The block that begins at `address`, if it is in memory with all that is wanted of it.
    fn cached_part(&self, address: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let Some(cached) = self.cached(address)? else { return Ok(None) };
        let (bytes, length) = (cached.bytes()?, usize::try_from(length).unwrap_or(usize::MAX));
        Ok(bytes.get(..length).map(<[u8]>::to_vec))
    }

    /// The `length` bytes of metadata at `address`: those of the storage, with what is newer in memory over them.
    pub(crate) fn stored_metadata(&self, what: &'static str, address: u64, length: u64) -> Result<Vec<u8>> {
        self.check(what, address, length)?;
        let mut bytes = memory::zeroed(length).map_err(|_| Error::Memory { what, address, length })?;
        self.read_metadata(what, address, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`OpenFile::stored_metadata`], into a buffer.
    pub(crate) fn read_metadata(&self, what: &'static str, address: u64, bytes: &mut [u8]) -> Result<()> {
        let place = self.check(what, address, bytes.len() as u64)?;
        let unwritten = self.write_waiting().is_err();
        self.pages.read_at(place, self.stored_part(place, bytes)?, &self.transfers.metadata)?;
        if unwritten {
            self.lay_waiting_over(place, bytes);
        }
        self.renew(address, bytes)
    }

    /// The part of a buffer for bytes at `place` that the storage has; what was given out but never written is zeros.
    fn stored_part<'a>(&self, place: u64, bytes: &'a mut [u8]) -> Result<&'a mut [u8]> {
        if self.store.is_none() {
            return Ok(bytes);
        }
        let there = usize::try_from(self.pages.len(&self.transfers.any)?.saturating_sub(place)).unwrap_or(usize::MAX);
        let count = there.min(bytes.len());
        Ok(bytes.get_mut(..count).unwrap_or_default())
    }

    /// Puts what is newer than the file over bytes that were read from `address`: changed blocks, the image of a metadata cache.
    fn renew(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        let end = address.saturating_add(bytes.len() as u64);
        // Structures do not overlap: of those that begin before, only the last can reach in.
        let before = self.image.range(..address).next_back();
        for (&start, newer) in before.into_iter().chain(self.image.range(address..end)) {
            lay_over(bytes, address, newer, start);
        }
        if let Some(store) = &self.store {
            for (start, block) in store.cache.unclean::<CachedBlock>(address..end)? {
                lay_over(bytes, address, &block.bytes()?, start);
            }
        }
        Ok(())
    }

    /// Forgets what pages have of a range of the file: the next read is one of the storage.
    pub(crate) fn forget_pages(&self, address: u64, length: u64) {
        let place = self.base.saturating_add(address);
        self.pages.forget(place..place.saturating_add(length));
    }

    /// Fills buffers with collections of the global heap: pairs of address and place, all in one request. The caller verifies each collection, and
    /// [loads](Self::load_once) one that fails alone.
    pub fn metadata_all(&self, what: &'static str, mut parts: Vec<(u64, &mut [u8])>) -> Result<()> {
        let request = parts.iter_mut().map(|(address, buf)| (*address, &mut **buf));
        self.read_parts(what, MemoryType::GlobalHeap, request)?;
        for (address, buf) in parts {
            self.renew(address, buf)?;
            torn::tear(Seal::Signature, buf);
        }
        Ok(())
    }

    /// Fills buffers with raw data: pairs of address and place, all in one request.
    pub fn read_raw(&self, what: &'static str, parts: Vec<(u64, &mut [u8])>) -> Result<()> {
        self.read_parts(what, MemoryType::RawData, parts.into_iter())
    }

    fn read_parts<'a>(
        &self,
        what: &'static str,
        kind: MemoryType,
        parts: impl ExactSizeIterator<Item = (u64, &'a mut [u8])>,
    ) -> Result<()> {
        let mut request = Vec::with_capacity(parts.len());
        for (address, buf) in parts {
            let addr = self.check(what, address, buf.len() as u64)?;
            request.push(ReadPart { kind, addr, buf });
        }
        let end = || request.iter().map(|part| part.addr.saturating_add(part.buf.len() as u64)).max();
        let unwritten = self.reach(end)?.is_some();
        let begun = self.speed.begin();
        self.values().read_vector(&mut request, &self.transfers.raw)?;
        self.speed.end(begun, || request.iter().map(|part| part.buf.len() as u64).sum());
        if unwritten {
            request.iter_mut().for_each(|part| self.lay_waiting_over(part.addr, part.buf));
        }
        Ok(())
    }

    /// Reads selections of raw data into one buffer, in one request. The offsets of the pieces come from [`OpenFile::check`].
    pub fn read_selection(&self, pairs: &[SelectionPair<'_>], buf: &mut [u8]) -> Result<()> {
        if let Some(why) = self.reach(|| pairs.iter().map(end_of).max())?
            && pairs.iter().any(|pair| self.is_waiting_in(pair))
        {
            return Err(why);
        }
        let begun = self.speed.begin();
        self.values().read_selection(pairs, &mut [buf], &self.transfers.raw)?;
        self.speed.end(begun, || pairs.iter().map(SelectionPair::bytes).fold(0, u64::saturating_add));
        Ok(())
    }

    /// Makes the storage as long as the space that was given out if it ends before a place that is read, so that values never written read as zeros. Why values
    /// that wait cannot be written, if so: that is told by the flush, and here only to those who read them and cannot have them from memory.
    fn reach(&self, end: impl FnOnce() -> Option<u64>) -> Result<Option<Error>> {
        let Some(store) = &self.store else { return Ok(None) };
        self.check_open(store)?;
        let unwritten = self.write_waiting().err();
        // Other threads may be writing to new space at the end: a read of what lies before it does not wait for them.
        if store.members.is_some() || self.pages.len(&self.transfers.raw)? < end().unwrap_or(0) {
            self.reach_end(store)?;
        }
        Ok(unwritten)
    }

    /// Puts values that wait to be written over bytes that were read from a place of the storage.
    fn lay_waiting_over(&self, place: u64, bytes: &mut [u8]) {
        if let Some(store) = &self.store {
            let waiting = store.waiting.lock();
            for (start, range) in &waiting.places {
                lay_over(bytes, place, waiting.bytes.get(range.clone()).unwrap_or_default(), *start);
            }
        }
    }

    /// Whether values that wait to be written may be among selected ones.
    fn is_waiting_in(&self, pair: &SelectionPair<'_>) -> bool {
        let end = end_of(pair);
        let is_inside = |(start, range): &(u64, std::ops::Range<usize>)| {
            *start < end && start.saturating_add(range.len() as u64) > pair.offset
        };
        self.store.as_ref().is_some_and(|store| store.waiting.lock().places.iter().any(is_inside))
    }

    /// Refuses a range that is not in the file; else says where it is in the storage.
    pub fn check(&self, what: &'static str, address: u64, length: u64) -> Result<u64> {
        // The end that was seen when the file was opened spares a look at the space of most ranges.
        match address.checked_add(length) {
            Some(end) if end <= self.seen_end() || end <= self.end() => Ok(self.base + address),
            _ => Err(Error::Outside { what, address, length, end: self.end() }),
        }
    }
}

/// Where the values end of which a piece is a selection.
fn end_of(pair: &SelectionPair<'_>) -> u64 {
    pair.offset.saturating_add(pair.file.extent().bytes(pair.element_size).unwrap_or(u64::MAX))
}

/// Copies what lies at `start` over bytes that lie at `address`, where they overlap.
fn lay_over(bytes: &mut [u8], address: u64, newer: &[u8], start: u64) {
    let skipped = usize::try_from(address.saturating_sub(start)).unwrap_or(usize::MAX);
    let at = usize::try_from(start.saturating_sub(address)).unwrap_or(usize::MAX);
    let (Some(newer), Some(older)) = (newer.get(skipped..), bytes.get_mut(at..)) else { return };
    older.iter_mut().zip(newer).for_each(|(older, newer)| *older = *newer);
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("storage", &self.raw.name()).field("superblock", &self.superblock).finish()
    }
}
