//! The bytes of a journal.

use xxhash_rust::xxh3::xxh3_64;

use super::SECTOR;

/// The first bytes of a trailer. The first is no character, the last two are a line end that a transfer as text would change.
const MAGIC: [u8; 8] = *b"\x89HSJRN\r\n";
const VERSION: u64 = 1;
/// Magic, and eight numbers of eight bytes each.
const USED: usize = 72;
/// What stands before the bytes of each block.
pub(super) const HEAD: u64 = 16;

/// What the end of a journal says of it. All places are in bytes from the front of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    /// Where the superblock of the file is.
    pub(super) base: u64,
    /// How long the storage was before.
    pub(super) length: u64,
    /// Where the blocks begin.
    pub(super) start: u64,
    /// How many bytes they take, with their heads.
    pub(super) size: u64,
    /// How many there are.
    pub(super) blocks: u64,
    /// The checksum of the blocks, XXH3 of 64 bits.
    pub(super) checksum: u64,
}

impl Trailer {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, self.base, self.length, self.start, self.size, self.blocks, self.checksum] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes.resize(SECTOR as usize, 0);
        bytes
    }

    /// The trailer that these bytes are; nothing if they are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<Trailer> {
        let used = bytes.get(..USED)?;
        let (said, own) = used.split_at_checked(USED - 8)?;
        if !said.starts_with(&MAGIC) || own != xxh3_64(said).to_le_bytes() {
            return None;
        }
        let mut numbers = said.chunks_exact(8).skip(1).map(number);
        let mut next = || numbers.next();
        (next()? == VERSION).then_some(())?;
        let (base, length, start) = (next()?, next()?, next()?);
        Some(Trailer { base, length, start, size: next()?, blocks: next()?, checksum: next()? })
    }

    /// Where the trailer itself is.
    pub(super) fn place(&self) -> Option<u64> {
        self.start.checked_add(self.size)?.checked_next_multiple_of(SECTOR)
    }

    /// Whether it can be the end of a storage of so many bytes whose superblock is at `base`, and whose file ends at `end`.
    pub(super) fn suits(&self, base: u64, end: u64, stored: u64) -> bool {
        self.base == base
            && end <= self.length
            && self.length <= self.start
            && self.start.is_multiple_of(SECTOR)
            && self.blocks <= self.size / (HEAD + 1)
            && self.place().and_then(|place| place.checked_add(SECTOR)) == Some(stored)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The head of a block: its place and its length.
pub(super) fn head(place: u64, length: u64) -> [u8; HEAD as usize] {
    (u128::from(length) << 64 | u128::from(place)).to_le_bytes()
}

/// What a head says.
pub(super) fn decode_head(bytes: [u8; HEAD as usize]) -> (u64, u64) {
    let both = u128::from_le_bytes(bytes);
    (both as u64, (both >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_as_it_was_written_and_no_bit_may_differ() {
        let trailer = Trailer { base: 512, length: 1000, start: 1024, size: 700, blocks: 3, checksum: 9 };
        let bytes = trailer.encode();
        assert_eq!(bytes.len() as u64, SECTOR);
        assert_eq!(Trailer::decode(&bytes), Some(trailer));
        for bit in 0..USED * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Trailer::decode(&other), None, "bit {bit}");
        }
        assert!(trailer.suits(512, 1000, 1024 + 1024 + 512));
        assert!(!trailer.suits(0, 1000, 2560) && !trailer.suits(512, 1001, 2560) && !trailer.suits(512, 1000, 3072));
    }
}
