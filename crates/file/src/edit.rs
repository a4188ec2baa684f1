//! Changing an open file: space, blocks, and their order. Nothing of this is in the file before [`OpenFile::flush`].

use std::sync::atomic::Ordering;

use hyperslab_alloc::Span;
use hyperslab_format::version::LibVersion;

pub use hyperslab_alloc::Kind;

use crate::{Error, OpenFile, Result, store::Store};

/// Takes back pieces of the block at an address, which nothing in the file names any more: pairs of place and length, or what else the
/// structure gave.
pub type Reclaim = fn(&OpenFile, u64, &[(u64, u64)]) -> Result<()>;

impl OpenFile {
    pub(crate) fn store(&self) -> Result<&Store> {
        self.store.as_deref().ok_or(Error::ReadOnly)
    }

    /// Whether the file may be changed.
    pub fn is_writable(&self) -> bool {
        self.store.is_some()
    }

    /// The versions that new structures have.
    pub fn libver_min(&self) -> LibVersion {
        self.store.as_ref().map_or(LibVersion::Earliest, |store| store.libver_min)
    }

    /// Space for `length` bytes. Nothing uses its old content; what is put there may be written at any time, since nothing in the file
    /// names it before the next flush.
    pub fn allocate(&self, kind: Kind, length: u64) -> Result<u64> {
        let store = self.store()?;
        let span = store.space.lock().allocate(kind, length, self.widths().offsets.max())?;
        store.touch();
        Ok(span.start)
    }

    /// The length of a free section that metadata of at least `least` and at most `most` bytes fills best, if there is one.
    pub(crate) fn fitting(&self, least: u64, most: u64) -> Result<Option<u64>> {
        Ok(self.store()?.space.lock().allocator.fitting(least, most))
    }

    /// Whether a range of metadata can be [longer](Self::extend) where it is.
    pub(crate) fn can_extend(&self, address: u64, length: u64, more: u64) -> Result<bool> {
        Ok(self.store()?.space.lock().allocator.can_extend(Span { start: address, len: length }, more))
    }

    /// Makes a range longer in place, if what lies behind it is free.
    pub fn extend(&self, address: u64, length: u64, more: u64) -> Result<bool> {
        let store = self.store()?;
        let mut space = store.space.lock();
        let extended = space.allocator.extend(Span { start: address, len: length }, more);
        if extended {
            store.touch();
            space.add_fresh(Span { start: address.saturating_add(length), len: more });
        }
        Ok(extended)
    }

    /// Gives space of metadata back, with the blocks in it. Others get it when the file no longer names it, that is after the next flush.
    pub fn free(&self, address: u64, length: u64) -> Result<()> {
        self.free_of(Kind::Metadata, address, length)
    }

    /// As [`OpenFile::free`], of values.
    pub fn free_values(&self, address: u64, length: u64) -> Result<()> {
        self.free_of(Kind::Raw, address, length)
    }

    pub(crate) fn free_of(&self, kind: Kind, address: u64, length: u64) -> Result<()> {
        let span = Span { start: address, len: length };
        self.forget_blocks(span)?;
        self.store()?.space.lock().free(kind, span);
        Ok(())
    }

    /// Forgets all that is known of blocks whose space is given back.
    pub(crate) fn forget_blocks(&self, span: Span) -> Result<()> {
        let store = self.store()?;
        let bridges: Vec<_> = {
            let mut orders = store.orders.lock();
            let blocks = orders.within(span);
            blocks.into_iter().flat_map(|block| orders.bridge(block)).collect()
        };
        store.cache.forget(span.start..span.end())?;
        bridges.into_iter().try_for_each(|(first, later)| self.order(first, later))?;
        store.collections.lock().retain(|address| !(span.start..span.end()).contains(address));
        store.forget_given_up(span);
        store.touch();
        Ok(())
    }

    /// Gives up a piece of the block at `address`, which the file may still name. `reclaim` gets all pieces of the block after the next
    /// flush, unless the whole block is freed before; what it changes waits for the flush after that one.
    pub fn free_after_flush(&self, address: u64, piece: (u64, u64), reclaim: Reclaim) -> Result<()> {
        let store = self.store()?;
        store.given_up.lock().entry(address).or_insert_with(|| (reclaim, Vec::new())).1.push(piece);
        store.touch();
        Ok(())
    }

    /// How many times the file was flushed: what was read before may have changed since, where it was [freed](Self::free_after_flush).
    pub fn flushes(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.flushes.load(Ordering::Relaxed))
    }

    /// How many times blocks or space of the file were changed, in memory or in the storage.
    pub fn changes(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.changes.load(Ordering::Relaxed))
    }

    /// Whether nothing in the file names this address yet: what lies there may be changed in any way.
    pub fn is_fresh(&self, address: u64) -> bool {
        self.store.as_ref().is_some_and(|store| store.space.lock().is_fresh(address))
    }

    /// Whether the file does not have the block at `address` as it is in memory.
    pub fn is_changed(&self, address: u64) -> bool {
        let phase = self.store.as_ref().and_then(|store| store.cache.phase(address));
        phase.is_some_and(|phase| !phase.is_clean())
    }

    /// Where the changed form of a block goes: to its own place if nothing in the file names that yet, else elsewhere; then its old place is
    /// given back.
    pub fn shadow(&self, address: u64, length: u64) -> Result<u64> {
        if self.is_fresh(address) {
            return Ok(address);
        }
        let shadow = self.allocate(Kind::Metadata, length)?;
        self.free(address, length)?;
        Ok(shadow)
    }

    /// Of two blocks of one structure that are in the file and both change, `first` is written before `later`. An error if it must already be the other way
    /// round: a structure has all its orders in one direction. Blocks of different objects are ordered by a [`Change`](crate::Change).
    pub fn order_within(&self, first: u64, later: u64) -> Result<()> {
        self.order(first, later)
    }

    pub(crate) fn order(&self, first: u64, later: u64) -> Result<()> {
        let store = self.store()?;
        if first == later {
            return Ok(());
        }
        let shown = store.shown_by.lock();
        let blocks_of = |header: u64| {
            let further = shown.range((header, 0)..=(header, u64::MAX)).map(|(_, block)| *block);
            std::iter::once(header).chain(further)
        };
        // What nothing names yet is written before everything else.
        let is_here = |address: &u64| !self.is_fresh(*address) && self.is_changed(*address);
        for first in blocks_of(first).filter(is_here) {
            for later in blocks_of(later).filter(is_here) {
                store.cache.depend(later, first)?;
                store.orders.lock().add(first, later);
            }
        }
        Ok(())
    }

    /// Notes that a further block of an object header changes in place, until the next flush.
    pub(crate) fn show_by(&self, header: u64, block: u64) -> Result<()> {
        if !self.is_fresh(block) {
            self.store()?.shown_by.lock().insert((header, block));
        }
        Ok(())
    }

    /// The blocks that are written before a block, and those that are written after it.
    pub(crate) fn orders_of(&self, block: u64) -> Result<(Vec<u64>, Vec<u64>)> {
        Ok(self.store()?.orders.lock().of(block))
    }

    /// To be called before values that the file names already get to name space that was taken since the last flush: the file tells that it
    /// reaches there, and has what was written there.
    pub fn publish_end(&self) -> Result<()> {
        let store = self.store()?;
        self.write_waiting()?;
        self.write_superblock(store)?;
        self.barrier(store)
    }
}
