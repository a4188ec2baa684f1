//! Space that was freed, and when others get it.

use hyperslab_alloc::Span;

use crate::{Kind, OpenFile, Result};

/// Values are replaced in so many portions.
const PORTIONS: u64 = 32;
/// No portion is smaller.
const LEAST: u64 = 16 << 10;

impl OpenFile {
    /// As [`OpenFile::free_values`], of what nothing in the file names any more: others may get it at once.
    pub fn release_values(&self, address: u64, length: u64) -> Result<()> {
        let span = Span { start: address, len: length };
        self.forget_blocks(span)?;
        self.store()?.space.lock().release(Kind::Raw, span);
        Ok(())
    }

    /// Notes that so many bytes inside of blocks are free after the next flush.
    pub fn await_space(&self, bytes: u64) {
        if let Some(store) = &self.store {
            let mut space = store.space.lock();
            space.awaited = space.awaited.saturating_add(bytes);
        }
    }

    /// Whether an operation would flush the file if so many bytes more were free after that.
    pub fn is_worth_flush(&self, bytes: u64) -> bool {
        self.store.as_ref().is_some_and(|store| store.space.lock().awaits_much(bytes, store.durability))
    }

    /// How many of the bytes that replace others are written in one operation: what it frees, the next ones get, if so much waits for a flush by then
    /// that the file is flushed.
    pub fn portion(&self, bytes: u64) -> u64 {
        let end = self.store.as_ref().map_or(0, |store| store.space.lock().allocator.size());
        (end.saturating_add(bytes) / PORTIONS).max(LEAST)
    }
}
