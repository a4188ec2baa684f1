//! Blocks that are rewritten where they are, so that none is left half old and half new.

use std::{ops::Range, sync::atomic::Ordering};

use hyperslab_alloc::PAGE;
use hyperslab_base::ErrorKind;
use hyperslab_driver::{Driver, MemoryType, WritePart};
use hyperslab_meta::{Encoded, Failure, Shared};

use crate::{
    Durability, Error, OpenFile, Result,
    journal::{self, Journal, SECTOR},
    member_layout::Members,
    store::{CachedBlock, Store},
};

impl OpenFile {
    /// As [`OpenFile::rewrite`]; what is written after this, and in whatever way, reaches the storage later.
    pub fn rewrite_first(&self, what: &'static str, parts: &[(u64, &[u8])]) -> Result<()> {
        self.rewrite(what, parts)?;
        self.barrier(self.store()?)
    }

    /// Writes pieces of a block that the file may name, and that has no checksum: pairs of address and bytes. None is left half written, and
    /// blocks that are written after this may rely on it.
    pub fn rewrite(&self, what: &'static str, parts: &[(u64, &[u8])]) -> Result<()> {
        let store = self.store()?;
        self.write_waiting()?;
        let mut request = Vec::with_capacity(parts.len());
        for &(address, buf) in parts {
            let addr = self.check(what, address, buf.len() as u64)?;
            request.push(WritePart { kind: MemoryType::GlobalHeap, addr, buf });
        }
        self.write_in_place(store, &request)
    }

    /// Blocks that are new in the file go out at any time, and in any order.
    pub(crate) fn write_blocks(&self, blocks: &[(u64, Encoded)]) -> Result<()> {
        self.write_parts(&self.parts(blocks)?)
    }

    /// Everything that the file names already, the superblock first: who follows a changed block to a new one must find that inside of the
    /// file.
    pub(crate) fn write_changed(&self, store: &Store) -> Result<()> {
        if store.durability == Durability::Full {
            return self.write_changed_durably(store);
        }
        self.write_superblock(store)?;
        self.write_waves(store, |wave| self.write_in_place(store, wave))
    }

    /// The same in three steps, each of them durable before the next one begins: what is new, a journal of what changes, what changes.
    fn write_changed_durably(&self, store: &Store) -> Result<()> {
        self.tell_ends(store)?;
        let superblock = self.next_superblock(store)?;
        let changed = store.cache.unclean::<CachedBlock>(0..u64::MAX)?;
        let bytes = |(address, block): (u64, Shared<CachedBlock>)| Ok((address, block.bytes()?));
        let mut blocks = changed.into_iter().map(bytes).collect::<Result<Vec<_>>>()?;
        if blocks.is_empty() {
            // The superblock is one sector.
            self.write_superblock(store)?;
            return self.barrier(store);
        }
        blocks.extend(superblock.map(|bytes| (0, bytes.into())));
        let mut parts = Vec::with_capacity(blocks.len());
        for (address, bytes) in &blocks {
            parts.push(WritePart::new(self.check("metadata", *address, bytes.len() as u64)?, bytes));
        }
        if journal::room(&parts) < parts.len() {
            return self.write_many_durably(store);
        }
        self.reach_end(store)?;
        self.barrier(store)?;
        self.through_journal(store, &parts, || {
            self.write_superblock_alone(store)?;
            self.write_waves(store, |wave| self.write_parts(wave))
        })
    }

    /// The same for more blocks than one journal holds: each wave is durable before the next one begins.
    fn write_many_durably(&self, store: &Store) -> Result<()> {
        self.write_superblock(store)?;
        self.write_waves(store, |wave| {
            self.barrier(store)?;
            self.write_in_place(store, wave)
        })?;
        self.barrier(store)
    }

    /// Writes changed blocks of the cache, those first that others wait for.
    fn write_waves(&self, store: &Store, write: impl Fn(&[WritePart<'_>]) -> Result<()>) -> Result<()> {
        let mut wave =
            |wave: &[(u64, Encoded)]| self.parts(wave).and_then(|parts| write(&parts)).map_err(Failure::from);
        let left = store.cache.flush(&mut wave)?;
        match left.entries {
            0 => Ok(()),
            entries => Err(Error::broken("metadata cache", 0, format!("{entries} blocks wait for each other"))),
        }
    }

    fn parts<'a>(&self, blocks: &'a [(u64, Encoded)]) -> Result<Vec<WritePart<'a>>> {
        let part = |(address, bytes): &'a (u64, Encoded)| {
            Ok(WritePart::new(self.check("metadata", *address, bytes.len() as u64)?, bytes))
        };
        blocks.iter().map(part).collect()
    }

    /// Writes blocks where they are, through a journal if one may be torn.
    fn write_in_place(&self, store: &Store, mut parts: &[WritePart<'_>]) -> Result<()> {
        while !parts.is_empty() {
            let (now, later) = parts.split_at(journal::room(parts));
            self.write_portion_in_place(store, now)?;
            parts = later;
        }
        Ok(())
    }

    /// Writes as many blocks as one journal holds.
    fn write_portion_in_place(&self, store: &Store, parts: &[WritePart<'_>]) -> Result<()> {
        let may_tear: Vec<_> = parts.iter().filter(|part| self.may_tear(store, part)).copied().collect();
        if may_tear.is_empty() {
            return self.write_parts(parts);
        }
        match self.through_journal(store, &may_tear, || self.write_parts(parts)) {
            // A user who wants to make room on a full disk must be able to delete.
            Err(why)
                if store.durability != Durability::Full
                    && !self.has_journal_left(store)
                    && why.kind() == ErrorKind::NoSpace =>
            {
                self.write_parts(parts)
            }
            written => written,
        }
    }

    /// Writes a journal of blocks that change, then the blocks in place, then cuts the journal off. If the blocks cannot be written, the journal
    /// stays: it tells what a process that is killed before the next attempt may have left half written.
    fn through_journal(
        &self,
        store: &Store,
        blocks: &[WritePart<'_>],
        write: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut journal = store.journal.lock();
        self.finish(store, &mut journal)?;
        self.write_or_make_room(|| {
            journal.open(&self.pages, self.base, self.end_of_space(store), blocks, &self.transfers.superblock)
        })?;
        self.wrote(store);
        let written = self.barrier(store).and_then(|()| write()).and_then(|()| self.barrier(store));
        let closed =
            written.and_then(|()| journal.close(&self.pages, self.end_of_space(store), &self.transfers.superblock));
        store.journal_left.store(closed.is_err(), Ordering::Release);
        closed
    }

    fn has_journal_left(&self, store: &Store) -> bool {
        store.journal_left.load(Ordering::Acquire)
    }

    /// Puts blocks in place that could not be written the last time, and cuts their journal off. Nothing else is written before that is done: it
    /// would come behind the journal, which counts at the end only, or be older in the journal.
    pub(crate) fn finish_journal(&self, store: &Store) -> Result<()> {
        if self.has_journal_left(store) { self.finish(store, &mut store.journal.lock()) } else { Ok(()) }
    }

    fn finish(&self, store: &Store, journal: &mut Journal) -> Result<()> {
        if !self.has_journal_left(store) {
            return Ok(());
        }
        self.pages.write_vector(&journal.blocks(), &self.transfers.any)?;
        self.wrote(store);
        self.barrier(store)?;
        journal.close(&self.pages, self.end_of_space(store), &self.transfers.superblock)?;
        // It may have been among them.
        store.superblock.lock().1.clear();
        store.journal_left.store(false, Ordering::Release);
        Ok(())
    }

    /// Whether a block may be left half written: a killed process stops at the border of a page or of a member, a power failure at one of a sector.
    fn may_tear(&self, store: &Store, part: &WritePart<'_>) -> bool {
        let whole = if store.durability == Durability::Full { SECTOR } else { PAGE };
        let Range { start, end } = part.addr..part.addr.saturating_add(part.buf.len() as u64);
        let locate = |place| store.members.as_ref().map_or((0, place), |members| members.locate(place));
        let ((first, from), (last, to)) = (locate(start), locate(end.saturating_sub(1).max(start)));
        first != last || from / whole != to / whole
    }

    fn write_parts(&self, parts: &[WritePart<'_>]) -> Result<()> {
        self.store.iter().try_for_each(|store| self.finish_journal(store))?;
        self.pages.write_vector(parts, &self.transfers.metadata)?;
        self.store.iter().for_each(|store| self.wrote(store));
        Ok(())
    }

    /// The end of all space that was given out, in bytes from the front of the storage.
    pub(crate) fn end_of_space(&self, store: &Store) -> u64 {
        self.base.saturating_add(store.space.lock().allocator.end())
    }

    /// Makes the storage as long as the space that was given out.
    pub(crate) fn reach_end(&self, store: &Store) -> Result<()> {
        let end = self.end_of_space(store);
        if self.pages.len(&self.transfers.superblock)? < end {
            self.finish_journal(store)?;
            self.pages.set_len(end, &self.transfers.superblock)?;
            self.wrote(store);
        }
        self.reach_values_end(store)
    }

    /// Notes that something was written which may not be durable.
    pub(crate) fn wrote(&self, store: &Store) {
        store.unsynced.store(true, Ordering::Release);
    }

    /// Writes the superblock if it is not in the file as it is now; the file is as long as it says before, durably if that is asked for.
    /// So does the message that tells the ends of members, if a message does.
    pub(crate) fn write_superblock(&self, store: &Store) -> Result<()> {
        self.finish_journal(store)?;
        if let Some((address, block)) = self.tell_ends(store)? {
            self.reach_end(store)?;
            self.barrier(store)?;
            let place = self.check("superblock extension", address, block.len() as u64)?;
            self.write_in_place(store, &[WritePart::new(place, &block)])?;
        }
        self.write_superblock_alone(store)
    }

    fn write_superblock_alone(&self, store: &Store) -> Result<()> {
        self.finish_journal(store)?;
        let Some(bytes) = self.next_superblock(store)? else { return Ok(()) };
        self.reach_end(store)?;
        self.barrier(store)?;
        self.pages.write_at(self.base, &bytes, &self.transfers.superblock)?;
        self.wrote(store);
        store.superblock.lock().1 = bytes;
        Ok(())
    }

    /// The superblock as it must be written, if the file has another one.
    fn next_superblock(&self, store: &Store) -> Result<Option<Vec<u8>>> {
        let mut superblock = store.superblock.lock();
        let (now, stored) = &mut *superblock;
        now.end_of_file = Some(now.base.saturating_add(store.space.lock().allocator.end()));
        let members = store.members.as_ref().map(|members| members.ending_at(store));
        let bytes = Members::head(members.as_ref(), now)?;
        Ok((bytes != *stored).then_some(bytes))
    }
}
