//! Writing a journal, and the blocks that it protects.
//!
//! A journal counts while it is the end of the storage. Nothing that it holds changes as long as it counts, but to what it says: it is cut off
//! when all its blocks are in place, before anything else is written. If they cannot be written, it stays, and the first thing that is written
//! later are these blocks.

use std::ops::Range;

use hyperslab_driver::{Driver, PageBuffer, Transfer, WritePart};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    SECTOR,
    replay::{MOST, MOST_BLOCKS},
    trailer::{HEAD, Trailer, head},
};
use crate::Result;

/// The journal of a file that is changed, if there is one now.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    open: Option<Open>,
}

/// What is in a journal.
#[derive(Debug)]
struct Open {
    /// How long the storage was before.
    length: u64,
    bytes: Vec<u8>,
    /// Where each block goes, and where it is in `bytes`.
    blocks: Vec<(u64, Range<usize>)>,
}

impl Journal {
    /// Writes a journal of blocks that do not overlap. Nothing of the file changes by that, which ends at `end` of the storage. There must be no
    /// other journal.
    pub(crate) fn open<D: Driver>(
        &mut self,
        pages: &PageBuffer<D>,
        base: u64,
        end: u64,
        blocks: &[WritePart<'_>],
        transfer: &Transfer,
    ) -> Result<()> {
        let stored = pages.len(transfer)?;
        let (start, length) = (stored.max(end).next_multiple_of(SECTOR), stored.max(end));
        let mut sorted: Vec<_> = blocks.iter().collect();
        sorted.sort_by_key(|block| block.addr);
        let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(blocks.len()));
        for block in sorted {
            bytes.extend(head(block.addr, block.buf.len() as u64));
            places.push((block.addr, bytes.len()..bytes.len() + block.buf.len()));
            bytes.extend_from_slice(block.buf);
        }
        let (size, blocks, checksum) = (bytes.len() as u64, blocks.len() as u64, xxh3_64(&bytes));
        let trailer = Trailer { base, length, start, size, blocks, checksum };
        bytes.resize(bytes.len().next_multiple_of(SECTOR as usize), 0);
        bytes.extend(trailer.encode());
        if let Err(why) = pages.write_at(start, &bytes, transfer) {
            // Without its trailer it does not count. Other threads may be writing values before the end of the file.
            let _ = pages.set_len(length, transfer);
            return Err(why.into());
        }
        self.open = Some(Open { length, bytes, blocks: places });
        Ok(())
    }

    /// The blocks that are to be written in place; none if there is no journal.
    pub(crate) fn blocks(&self) -> Vec<WritePart<'_>> {
        let Some(open) = &self.open else { return Vec::new() };
        let block = |(place, range): &(u64, Range<usize>)| {
            WritePart::new(*place, open.bytes.get(range.clone()).unwrap_or_default())
        };
        open.blocks.iter().map(block).collect()
    }

    /// All its blocks are in place: cuts it off. The file ends at `end` of the storage.
    pub(crate) fn close<D: Driver>(&mut self, pages: &PageBuffer<D>, end: u64, transfer: &Transfer) -> Result<()> {
        if let Some(open) = &self.open {
            pages.set_len(open.length.max(end), transfer)?;
            self.open = None;
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
    let fits = blocks.iter().take(MOST_BLOCKS as usize).take_while(|block| {
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
