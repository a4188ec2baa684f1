//! The space trailer: what a closed file leaves for its next writer, behind the end that its superblock tells.
//!
//! Superblocks before version 2 have no place for a list of free sections, and a list of a few hundred free bytes is not worth the blocks that the
//! format needs for it. Without one, each writer would lose what it freed when it closes the file.
//!
//! ```text
//!  … the file | sections, collections | footer of 48 bytes |
//!             ^ end of the file                            ^ end of the storage
//! ```
//!
//! libhdf5 ignores bytes behind the end of the file, and cuts them off when it closes a file that it may change. It never gives out the sections
//! that a trailer lists: it knows only the space behind the end. So a trailer that is whole is true, also if libhdf5 was killed in between.
//!
//! A writer reads the trailer and cuts it off before it writes anything else. It writes the next one when it closes the file, behind everything
//! else. A trailer that is not whole, or was written for another end, is none.

mod bytes;

use std::sync::atomic::Ordering;

use hyperslab_alloc::Kind;
use hyperslab_driver::{Driver, Transfer};

use crate::{OpenFile, Result, Seal, Survey, store::Store, torn};

pub(crate) use bytes::Leftovers;
use bytes::{FOOTER, body_size};

/// What a [survey](Survey) calls the trailer, which is the one block behind the end of the file.
pub const SPACE_TRAILER: &str = "space trailer";

/// A larger trailer does not count: opening a file takes a bounded time, whatever its last bytes say.
const MOST: u64 = 64 << 20;
/// A new file that has fewer free bytes does without a trailer.
const FEW: u64 = 256;

/// The trailer of `size` bytes behind a file that ends at `end` of its storage, and whose addresses are before `last`. Whatever is wrong with it, it is none.
fn find(
    storage: &impl Driver,
    base: u64,
    (end, size): (u64, u64),
    last: u64,
    transfer: &Transfer,
) -> Result<Option<Leftovers>> {
    let mut footer = [0; FOOTER as usize];
    storage.read_at(end.saturating_add(size) - FOOTER, &mut footer, transfer)?;
    torn::tear(Seal::Checksum, &mut footer);
    if body_size(&footer, base, end) != Some(size - FOOTER) {
        return Ok(None);
    }
    let mut bytes = vec![0; size as usize];
    storage.read_at(end, &mut bytes, transfer)?;
    torn::tear(Seal::Checksum, &mut bytes);
    Ok(Leftovers::decode(&bytes, base, end, last))
}

impl OpenFile {
    /// What the last writer left behind the end of the file.
    pub(crate) fn leftovers(&self) -> Result<Option<Leftovers>> {
        let own_end = self.own_end();
        let Some(told) = self.told_end() else { return Ok(None) };
        let Some(size) = own_end.checked_sub(told).filter(|size| *size > FOOTER && *size <= MOST) else {
            return Ok(None);
        };
        let end = self.base.saturating_add(told);
        // Values may have a member of their own, with higher addresses.
        let last = if own_end < self.seen_end() { self.seen_end() } else { told };
        self.retry.find(
            || find(&self.pages, self.base, (end, size), last, &self.transfers.metadata),
            || self.forget_pages(told, size),
        )
    }

    /// How many bytes behind the end of the file are its space trailer; it has none while it is open for writing.
    pub fn trailer_length(&self) -> Result<u64> {
        let behind = |_| self.own_end().saturating_sub(self.told_end().unwrap_or(0));
        Ok(self.leftovers()?.map_or(0, behind))
    }

    /// Shows the trailer, and what it lists as free.
    pub(crate) fn survey_trailer(&self, survey: &mut dyn Survey) {
        let end = self.told_end().unwrap_or(0);
        let Some(Some(leftovers)) = survey.found(SPACE_TRAILER, end, self.leftovers()) else { return };
        survey.block(SPACE_TRAILER, end, self.own_end().saturating_sub(end));
        leftovers.sections.iter().for_each(|(span, _)| survey.free(span.start, span.len));
    }

    /// Cuts the trailer off, and takes over what it lists. Nothing else was written yet.
    pub(crate) fn take_over_leftovers(&self, store: &Store, leftovers: Leftovers) -> Result<()> {
        let end = self.end_of_space(store);
        self.pages.set_len(end, &self.transfers.superblock)?;
        self.end.store(self.pages.len(&self.transfers.any)?.saturating_sub(self.base), Ordering::Relaxed);
        self.wrote(store);
        let mut space = store.space.lock();
        leftovers.sections.into_iter().for_each(|(span, kind)| space.allocator.restore(span, kind));
        drop(space);
        *store.collections.lock() = leftovers.collections;
        Ok(())
    }

    /// Leaves a trailer behind a file that is written and ends at `end` of its storage; with the free sections, unless the file `lists` them itself.
    /// A storage without room for it must not keep the file from being closed: then there is none.
    pub(crate) fn leave(&self, store: &Store, end: u64, lists: bool) -> Result<()> {
        let free = if lists { Vec::new() } else { store.space.lock().allocator.free_parts() };
        let sections = free.into_iter().map(|(span, kind)| (span, kind.unwrap_or(Kind::Metadata)));
        let leftovers = Leftovers { sections: sections.collect(), collections: store.collections.lock().clone() };
        let few = store.is_new && leftovers.sections.iter().map(|(span, _)| span.len).sum::<u64>() < FEW;
        if leftovers.is_empty() || few && leftovers.collections.is_empty() {
            return Ok(());
        }
        let bytes = leftovers.encode(self.base, end);
        if bytes.len() as u64 > MOST {
            return Ok(());
        }
        // The next writer gives out what the trailer lists: the storage must have the state of the file that no longer names it before.
        self.barrier(store)?;
        if self.pages.write_at(end, &bytes, &self.transfers.metadata).is_err() {
            self.pages.set_len(end, &self.transfers.superblock)?;
        }
        self.wrote(store);
        Ok(())
    }

    /// Collections of the global heap that have room, as they were noted last; the one to fill first at the end.
    pub fn collections_with_room(&self) -> Vec<u64> {
        self.store.as_ref().map_or_else(Vec::new, |store| store.collections.lock().clone())
    }

    /// Notes collections of the global heap that have room, for the next writer of the file too. One whose space is [freed](Self::free_values) is
    /// forgotten.
    pub fn note_collections(&self, collections: Vec<u64>) -> Result<()> {
        *self.store()?.collections.lock() = collections;
        Ok(())
    }
}
