//! Finding a journal, and doing again what it says.

use std::sync::Arc;

use hyperslab_driver::{Driver, Transfer};
use xxhash_rust::xxh3::Xxh3;

use super::{
    SECTOR,
    overlay::{Block, Overlay},
    trailer::{HEAD, Trailer, decode_head},
};
use crate::{Result, Seal, torn, transfers::Transfers};

/// So much is read at once.
const WINDOW: u64 = 1 << 20;
/// A larger journal does not count: opening a file takes a bounded time, whatever its last bytes say.
pub(super) const MOST: u64 = 1 << 30;
/// Nor one with more blocks, which take memory.
pub(super) const MOST_BLOCKS: u64 = 1 << 20;

/// A journal that counts.
#[derive(Debug)]
pub(crate) struct Found {
    /// By rising place; they do not overlap.
    blocks: Vec<Block>,
    /// How long the storage is without it.
    length: u64,
    /// And with it.
    stored: u64,
}

/// The journal at the end of a storage of `stored` bytes, whose superblock is at `base` and says that the file ends at `end`. Addresses are before
/// `reach`: values may have a member of their own. Whatever is wrong
/// with it, it is none.
pub(crate) fn find(
    storage: &impl Driver,
    base: u64,
    (end, stored): (u64, u64),
    reach: u64,
    transfer: &Transfer,
) -> Result<Option<Found>> {
    let Some(place) = trailer_place(end, stored) else { return Ok(None) };
    let mut last = [0; SECTOR as usize];
    storage.read_at(place, &mut last, transfer)?;
    torn::tear(Seal::Checksum, &mut last);
    let trailer = Trailer::decode(&last).filter(|trailer| trailer.suits(base, end, stored) && trailer.size <= MOST);
    let trailer = trailer.filter(|trailer| trailer.blocks <= MOST_BLOCKS);
    let Some(trailer) = trailer else { return Ok(None) };
    if !is_whole(storage, &trailer, transfer)? {
        return Ok(None);
    }
    let blocks = blocks(storage, &trailer, (stored, base.saturating_add(reach)), transfer)?;
    Ok(blocks.map(|blocks| Found { blocks, length: trailer.length, stored }))
}

/// Where the trailer of a journal is, if a storage of `stored` bytes whose file ends at `end` has room for one.
pub(crate) fn trailer_place(end: u64, stored: u64) -> Option<u64> {
    stored.checked_sub(SECTOR).filter(|place| *place >= end && place.is_multiple_of(SECTOR))
}

/// Whether its blocks have the checksum that the trailer says.
fn is_whole(storage: &impl Driver, trailer: &Trailer, transfer: &Transfer) -> Result<bool> {
    let mut checksum = Xxh3::new();
    portions(storage, (trailer.start, trailer.size), transfer, |_, portion| {
        torn::tear(Seal::Checksum, portion);
        checksum.update(portion);
        Ok(())
    })?;
    Ok(checksum.digest() == trailer.checksum)
}

/// Its blocks; nothing if one is not inside of the file, or lies over another. The journal ends at `stored`, the storage at `reach`.
fn blocks(
    storage: &impl Driver,
    trailer: &Trailer,
    (stored, reach): (u64, u64),
    transfer: &Transfer,
) -> Result<Option<Vec<Block>>> {
    let (mut blocks, mut at, mut free) = (Vec::new(), trailer.start, trailer.base);
    let end = trailer.start.saturating_add(trailer.size);
    while at < end && blocks.len() as u64 <= trailer.blocks {
        let mut head = [0; HEAD as usize];
        if end - at <= HEAD {
            return Ok(None);
        }
        storage.read_at(at, &mut head, transfer)?;
        let (place, length) = decode_head(head);
        at += HEAD;
        // Behind the journal are only values that have a member of their own.
        let is_inside = |past: u64| past <= trailer.length || place >= stored && past <= reach;
        let fits = |past: &u64| place >= free && is_inside(*past) && length > 0 && length <= end - at;
        let Some(past) = place.checked_add(length).filter(fits) else { return Ok(None) };
        blocks.push(Block { place, length, at });
        (at, free) = (at + length, past);
    }
    Ok((blocks.len() as u64 == trailer.blocks).then_some(blocks))
}

/// Shows a range of the storage, portion by portion, each with its distance from the front of the range.
fn portions(
    storage: &(impl Driver + ?Sized),
    (start, length): (u64, u64),
    transfer: &Transfer,
    mut show: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut bytes = vec![0; length.min(WINDOW) as usize];
    let mut done = 0;
    while done < length {
        let portion = bytes.get_mut(..(length - done).min(WINDOW) as usize).unwrap_or_default();
        storage.read_at(start.saturating_add(done), portion, transfer)?;
        show(done, portion)?;
        done += portion.len() as u64;
    }
    Ok(())
}

impl Found {
    /// Puts all blocks in place, durably, and cuts the journal off. If this ends in the middle, the journal still counts.
    pub(crate) fn replay(&self, storage: &dyn Driver, transfers: &Transfers) -> Result<()> {
        for block in &self.blocks {
            portions(storage, (block.at, block.length), &transfers.any, |done, portion| {
                Ok(storage.write_at(block.place.saturating_add(done), portion, &transfers.any)?)
            })?;
        }
        storage.sync(&transfers.any)?;
        storage.set_len(self.length, &transfers.superblock)?;
        Ok(storage.sync(&transfers.any)?)
    }

    /// The storage as it is when all blocks are in place, to read.
    pub(crate) fn overlay(self, storage: Arc<dyn Driver>) -> Arc<dyn Driver> {
        Arc::new(Overlay::new(storage, self.blocks, self.length, self.stored))
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_driver::Memory;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::{Retry, journal::trailer::head};

    const LENGTH: u64 = 1000;
    const START: u64 = 1024;

    /// A storage of 1000 bytes with a journal of these blocks, whose trailer says what `change` makes of the truth.
    fn storage(blocks: &[(u64, u64)], change: impl FnOnce(&mut Trailer)) -> Memory {
        let mut body = Vec::new();
        for &(place, length) in blocks {
            body.extend(head(place, length));
            body.resize(body.len() + length.min(5000) as usize, 7);
        }
        let (size, checksum) = (body.len() as u64, xxh3_64(&body));
        let mut trailer =
            Trailer { base: 0, length: LENGTH, start: START, size, blocks: blocks.len() as u64, checksum };
        change(&mut trailer);
        let mut bytes = vec![1; LENGTH as usize];
        bytes.resize(START as usize, 0);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(SECTOR as usize), 0);
        bytes.extend(trailer.encode());
        Memory::from(bytes)
    }

    fn found(storage: &Memory, end: u64) -> Option<Found> {
        let any = Transfer::default();
        let length = storage.len(&any).unwrap();
        Retry::default().find(|| find(storage, 0, (end, length), length, &any), || ()).unwrap()
    }

    #[test]
    fn a_journal_is_put_in_place_and_cut_off() {
        let storage = storage(&[(3, 5), (8, 600), (990, 10)], |_| ());
        found(&storage, 500).unwrap().replay(&storage, &Transfers::new(&Transfer::default())).unwrap();
        let mut wanted = vec![1; LENGTH as usize];
        wanted[3..608].fill(7);
        wanted[990..].fill(7);
        assert_eq!(storage.into_bytes(), wanted);
    }

    #[test]
    fn who_only_reads_sees_the_same() {
        let storage = Arc::new(storage(&[(3, 5), (100, 600), (990, 10)], |_| ()));
        let read = found(&storage, 500).unwrap().overlay(storage);
        let mut wanted = vec![1; LENGTH as usize];
        [3..8, 100..700, 990..1000].into_iter().for_each(|range| wanted[range].fill(7));
        for (start, end) in [(0, 1000), (4, 5), (7, 101), (699, 1000), (8, 100), (50, 50)] {
            let mut bytes = vec![9; end - start];
            read.read_at(start as u64, &mut bytes, &Transfer::default()).unwrap();
            assert_eq!(bytes, wanted[start..end], "{start} to {end}");
        }
        assert_eq!(read.len(&Transfer::default()).unwrap(), LENGTH);
        assert!(read.read_at(999, &mut [0; 2], &Transfer::default()).unwrap_err().is_past_end());
        assert!(
            read.write_at(0, &[1], &Transfer::default()).is_err() && read.set_len(5, &Transfer::default()).is_err()
        );
    }

    /// All of them have the right checksums.
    #[test]
    fn hostile_journals_do_not_count() {
        let none = |blocks: &[(u64, u64)], change: fn(&mut Trailer)| {
            let storage = storage(blocks, change);
            assert!(found(&storage, 500).is_none(), "{blocks:?}");
        };
        none(&[(3, 5), (7, 5)], |_| ()); // they overlap
        none(&[(100, 5), (3, 5)], |_| ()); // out of order
        none(&[(995, 6)], |_| ()); // behind the file
        none(&[(START, 6)], |_| ()); // in the journal
        none(&[(u64::MAX - 2, 6)], |_| ());
        none(&[(3, 0)], |_| ());
        none(&[(3, u64::MAX)], |_| ());
        none(&[(3, 6000)], |_| ()); // longer than the journal
        none(&[(3, 5)], |trailer| trailer.blocks = 2);
        none(&[(3, 5)], |trailer| trailer.blocks = 0);
        none(&[(3, 5)], |trailer| trailer.blocks = u64::MAX);
        none(&[(3, 5)], |trailer| trailer.base = 512);
        none(&[(3, 5)], |trailer| trailer.length = 400); // less than the superblock says
        none(&[(3, 5)], |trailer| trailer.length = START + 1);
        none(&[(3, 5)], |trailer| trailer.start = 0);
        none(&[(3, 5)], |trailer| trailer.start = u64::MAX);
        none(&[(3, 5)], |trailer| trailer.size = u64::MAX);
        none(&[(3, 5)], |trailer| trailer.size = 20);
        none(&[(3, 5)], |trailer| trailer.checksum ^= 1);
        assert!(found(&storage(&[(3, 5)], |_| ()), LENGTH + 1).is_none(), "the file reaches over it");
        assert!(find(&Memory::from(vec![0; 512]), 0, (0, 512), 512, &Transfer::default()).unwrap().is_none());
        assert!(find(&Memory::from(vec![0; 100]), 0, (0, 100), 100, &Transfer::default()).unwrap().is_none());
    }

    #[test]
    fn no_bit_of_a_journal_may_differ() {
        let whole = storage(&[(3, 5), (100, 40)], |_| ()).into_bytes();
        let used = START as usize..START as usize + 77;
        let trailer = whole.len() - SECTOR as usize..whole.len() - SECTOR as usize + 72;
        for bit in used.chain(trailer).flat_map(|byte| byte * 8..byte * 8 + 8) {
            let mut spoiled = whole.clone();
            spoiled[bit / 8] ^= 1 << (bit % 8);
            assert!(found(&Memory::from(spoiled), 500).is_none(), "bit {bit}");
        }
    }
}
