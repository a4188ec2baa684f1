//! The bytes of a space trailer.

use hyperslab_alloc::{Kind, Span};
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of the footer. The first is no character, the last two are a line end that a transfer as text would change.
const MAGIC: [u8; 8] = *b"\x89HSSPC\r\n";
const VERSION: u64 = 1;
/// Magic, version, base, end, size, checksum.
pub(super) const FOOTER: u64 = 48;
/// The most bytes of a number of 64 bits.
const LONGEST: u32 = 10;

/// What a file leaves for its next writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// Free sections by rising address, and what each was used for. They do not touch each other.
    pub(crate) sections: Vec<(Span, Kind)>,
    /// Collections of the global heap that have room, the one to fill first at the end.
    pub(crate) collections: Vec<u64>,
}

impl Leftovers {
    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.collections.is_empty()
    }

    /// The trailer of a file that begins at `base` of its storage and ends at `end`: numbers of variable length, then the footer.
    pub(super) fn encode(&self, base: u64, end: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(&mut bytes, self.sections.len() as u64);
        let mut before = 0;
        for (span, kind) in &self.sections {
            push(&mut bytes, span.start.saturating_sub(before));
            bytes.push(*kind as u8);
            push(&mut bytes, span.len);
            before = span.end();
        }
        push(&mut bytes, self.collections.len() as u64);
        self.collections.iter().for_each(|address| push(&mut bytes, *address));
        let size = bytes.len() as u64;
        bytes.extend(MAGIC);
        [VERSION, base, end, size].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// What a whole trailer says, if all of it is right: it was written for this base and this end, and nothing lies at `last` or behind.
    pub(super) fn decode(bytes: &[u8], base: u64, end: u64, last: u64) -> Option<Leftovers> {
        let (said, checksum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        if checksum != xxh3_64(said).to_le_bytes() {
            return None;
        }
        let size = body_size(bytes, base, end)?;
        let mut body = said.get(..usize::try_from(size).ok()?)?;
        let mut before = 0u64;
        let sections = (0..next(&mut body)?).map(|_| {
            let start = before.checked_add(next(&mut body)?)?;
            let (kind, rest) = body.split_first()?;
            body = rest;
            let span = Span { start, len: next(&mut body)? };
            before = start.checked_add(span.len)?;
            Some((span, [Kind::Metadata, Kind::Raw].into_iter().find(|known| *known as u8 == *kind)?))
        });
        let sections = sections.collect::<Option<Vec<_>>>()?;
        let collections = (0..next(&mut body)?).map(|_| next(&mut body)).collect::<Option<Vec<_>>>()?;
        let is_inside = before <= last && collections.iter().all(|address| *address < last);
        (is_inside && body.is_empty()).then_some(Leftovers { sections, collections })
    }
}

/// How many bytes precede the footer that `bytes` end with, if it is one for this base and this end.
pub(super) fn body_size(bytes: &[u8], base: u64, end: u64) -> Option<u64> {
    let footer = bytes.get(bytes.len().checked_sub(FOOTER as usize)?..)?;
    let numbers = footer.strip_prefix(&MAGIC)?.as_chunks::<8>().0;
    match *numbers {
        [version, its_base, its_end, size, _] => {
            let is_its = [version, its_base, its_end].map(u64::from_le_bytes) == [VERSION, base, end];
            is_its.then_some(u64::from_le_bytes(size))
        }
        _ => None,
    }
}

/// Seven bits a byte, the low ones first; the high bit says that more follow.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn next(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for nth in 0..LONGEST {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        number |= part.checked_shl(7 * nth).filter(|shifted| shifted >> (7 * nth) == part)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    fn some() -> Leftovers {
        let section = |start, len, kind| (Span { start, len }, kind);
        let sections = vec![section(96, 1, Kind::Metadata), section(300, 70_000, Kind::Raw)];
        Leftovers { sections, collections: vec![80_000, 75_000] }
    }

    #[test]
    fn a_trailer_is_read_as_it_was_written_and_no_bit_may_differ() {
        let bytes = some().encode(512, 100_000);
        assert_eq!(Leftovers::decode(&bytes, 512, 100_000, 99_488), Some(some()));
        assert_eq!(Leftovers::decode(&bytes, 0, 100_000, 100_000), None, "another user block");
        assert_eq!(Leftovers::decode(&bytes, 512, 100_001, 99_489), None, "another end of the file");
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Leftovers::decode(&other, 512, 100_000, 99_488), None, "bit {bit}");
        }
        (0..bytes.len()).for_each(|length| assert_eq!(Leftovers::decode(&bytes[..length], 512, 100_000, 99_488), None));
    }

    /// All of them have the right checksum.
    #[test]
    fn hostile_trailers_are_none() {
        let none = |change: fn(&mut Leftovers)| {
            let mut leftovers = some();
            change(&mut leftovers);
            assert_eq!(Leftovers::decode(&leftovers.encode(0, 100_000), 0, 100_000, 100_000), None, "{leftovers:?}");
        };
        none(|leftovers| leftovers.sections[1].0.len = 99_701); // behind the end
        none(|leftovers| leftovers.sections[1].0.len = u64::MAX);
        none(|leftovers| leftovers.sections[1].0.start = u64::MAX);
        none(|leftovers| leftovers.collections[0] = 100_000);
        // More sections than bytes: they are not believed before they are read.
        let mut bytes = Vec::new();
        push(&mut bytes, u64::MAX);
        let size = bytes.len() as u64;
        bytes.extend(MAGIC);
        [VERSION, 0, 100_000, size].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        assert_eq!(Leftovers::decode(&bytes, 0, 100_000, 100_000), None);
    }

    #[test]
    fn numbers_of_any_size() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            assert_eq!(next(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(next(&mut [0xff; 10].as_slice()), None, "more than 64 bits");
    }
}
