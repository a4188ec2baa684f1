//! Writing a journal, and the blocks that it protects.
//!
//! A journal counts while it is the end of the storage. Nothing that it holds changes as long as it counts, but to what it says: it is cut off
//! when all its blocks are in place, before anything else is written. If they cannot be written, it stays, and the next one is put behind it:
//! that has all blocks which are not in place yet, since those still wait to be written.

use hyperslab_driver::{Driver, PageBuffer, Transfer, WritePart};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    SECTOR,
    replay::MOST,
    trailer::{HEAD, Trailer, head},
};
use crate::Result;

/// The journal of a file that is changed, if there is one now.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// How long the storage was before the journal that is there.
    length: Option<u64>,
}

impl Journal {
    /// Whether there is one: blocks that it has may be half written.
    pub(crate) fn is_open(&self) -> bool {
        self.length.is_some()
    }

    /// Writes a journal of blocks that do not overlap. Nothing of the file changes by that, which ends at `end` of the storage.
    pub(crate) fn open<D: Driver>(
        &mut self,
        pages: &PageBuffer<D>,
        base: u64,
        end: u64,
        blocks: &[WritePart<'_>],
    ) -> Result<()> {
        let stored = pages.len()?;
        let start = stored.max(end).next_multiple_of(SECTOR);
        let length = self.length.unwrap_or(stored).max(end);
        let mut sorted: Vec<_> = blocks.iter().collect();
        sorted.sort_by_key(|block| block.addr);
        let mut bytes = Vec::new();
        for block in sorted {
            bytes.extend(head(block.addr, block.buf.len() as u64));
            bytes.extend_from_slice(block.buf);
        }
        let (size, blocks, checksum) = (bytes.len() as u64, blocks.len() as u64, xxh3_64(&bytes));
        let trailer = Trailer { base, length, start, size, blocks, checksum };
        bytes.resize(bytes.len().next_multiple_of(SECTOR as usize), 0);
        bytes.extend(trailer.encode());
        if let Err(why) = pages.write_at(start, &bytes, &Transfer::default()) {
            // Without its trailer it does not count; one that was there before counts again when the storage ends with it.
            let _ = pages.set_len(stored);
            return Err(why.into());
        }
        self.length = Some(length);
        Ok(())
    }

    /// All its blocks are in place: cuts it off. The file ends at `end` of the storage.
    pub(crate) fn close<D: Driver>(&mut self, pages: &PageBuffer<D>, end: u64) -> Result<()> {
        if let Some(length) = self.length {
            pages.set_len(length.max(end))?;
            self.length = None;
        }
        Ok(())
    }
}

/// How many of the first blocks one journal can hold, at least one.
pub(crate) fn room(blocks: &[WritePart<'_>]) -> usize {
    room_within(blocks, MOST)
}

fn room_within(blocks: &[WritePart<'_>], most: u64) -> usize {
    let mut size = 0u64;
    let fits = blocks.iter().take_while(|block| {
        size = size.saturating_add(HEAD).saturating_add(block.buf.len() as u64);
        size <= most
    });
    fits.count().max(1).min(blocks.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_holds_as_many_blocks_as_a_reader_accepts() {
        let buf = [0; 100];
        let blocks = [0, 100, 200].map(|addr| WritePart::new(addr, &buf));
        let room = |most| room_within(&blocks, most);
        assert_eq!([room(1), room(116), room(231), room(232), room(348), room(u64::MAX)], [1, 1, 1, 2, 3, 3]);
        assert_eq!(room_within(&[], 100), 0);
    }
}
