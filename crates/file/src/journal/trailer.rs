//! The bytes of a journal.

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
    /// The checksum of the blocks.
    pub(super) checksum: u64,
}

impl Trailer {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, self.base, self.length, self.start, self.size, self.blocks, self.checksum] {
            bytes.extend(number.to_le_bytes());
        }
        let mut own = Checksum::default();
        own.add(&bytes);
        bytes.extend(own.finish().to_le_bytes());
        bytes.resize(SECTOR as usize, 0);
        bytes
    }

    /// The trailer that these bytes are; nothing if they are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<Trailer> {
        let used = bytes.get(..USED)?;
        let (said, own) = used.split_at_checked(USED - 8)?;
        let mut checksum = Checksum::default();
        checksum.add(said);
        if !said.starts_with(&MAGIC) || own != checksum.finish().to_le_bytes() {
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

/// A checksum of 64 bits, eight bytes at a time. Each step can be undone, so one word that differs always shows.
pub(super) struct Checksum {
    state: u64,
    /// Bytes that are not a whole word yet.
    rest: Vec<u8>,
    length: u64,
}

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum { state: 0x27d4_eb2f_1656_67c5, rest: Vec::with_capacity(8), length: 0 }
    }
}

impl Checksum {
    /// Adds bytes; it does not matter in which portions they come.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        while !self.rest.is_empty() && self.rest.len() < 8 {
            let Some((first, others)) = bytes.split_first() else { return };
            self.rest.push(*first);
            bytes = others;
        }
        let mut state = self.state;
        if self.rest.len() == 8 {
            state = mix(state, number(&self.rest));
            self.rest.clear();
        }
        let words = bytes.chunks_exact(8);
        self.rest.extend_from_slice(words.remainder());
        for word in words {
            state = mix(state, number(word));
        }
        self.state = state;
    }

    pub(super) fn finish(self) -> u64 {
        let mut state = mix(mix(self.state, number(&self.rest)), self.length);
        state ^= state >> 33;
        state = state.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        state ^ state >> 29
    }
}

fn mix(state: u64, word: u64) -> u64 {
    let word = word.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31).wrapping_mul(0x9e37_79b1_85eb_ca87);
    (state ^ word).rotate_left(27).wrapping_mul(0x9e37_79b1_85eb_ca87).wrapping_add(0x85eb_ca77_c2b2_ae63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(portions: &[&[u8]]) -> u64 {
        let mut checksum = Checksum::default();
        portions.iter().for_each(|portion| checksum.add(portion));
        checksum.finish()
    }

    #[test]
    fn portions_do_not_matter_and_every_bit_does() {
        let bytes: Vec<u8> = (0..100u8).collect();
        let whole = sum(&[&bytes]);
        for cut in 0..100 {
            for next in cut..100 {
                assert_eq!(sum(&[&bytes[..cut], &bytes[cut..next], &bytes[next..]]), whole);
            }
        }
        for bit in 0..800 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum(&[&other]), whole, "bit {bit}");
        }
        assert_ne!(sum(&[&[0; 8]]), sum(&[&[0; 16]]));
        assert_ne!(sum(&[&[0; 3]]), sum(&[&[0; 4]]));
    }

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
