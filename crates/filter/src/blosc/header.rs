//! What a container starts with.
//!
//! 16 bytes: format, format of the codec, flags, element size, then in 4 bytes each the length, that of a block, and that of the
//! container. If both flags of shuffling are set there are 16 more: six stages, a codec, its note, a note for each stage,
//! and two bytes of flags.

use hyperslab_base::Cursor;

use super::codec::Inner;
use crate::{Fault, output::to_len};

pub(super) const LEN: usize = 16;
pub(super) const EXTENDED_LEN: usize = 32;

/// The most bytes that a container decodes to.
pub(crate) const MAX_LEN: u64 = i32::MAX as u64;

pub(super) const SHUFFLED: u8 = 1;
pub(super) const COPIED: u8 = 2;
pub(super) const BITSHUFFLED: u8 = 4;
const DELTA: u8 = 8;
pub(super) const UNSPLIT: u8 = 16;

const DICTIONARY: u8 = 1;
const LAZY: u8 = 8;
const INSTRUMENTED: u8 = 128;

/// From this format on, bits are shuffled as far as the elements are a multiple of 8.
const FORMAT_3: u8 = 3;

/// What is done to the bytes of a block before they are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    None,
    /// By elements of so many bytes; 0 is the element size.
    Shuffle(u8),
    Bitshuffle,
    /// Exclusive or with the element before, and in later blocks with the first block.
    Delta,
    /// Low bits were cleared; nothing brings them back.
    Truncate,
}

impl Stage {
    fn read(id: u8, note: u8) -> Result<Stage, Fault> {
        match id {
            0 => Ok(Stage::None),
            1 => Ok(Stage::Shuffle(note)),
            2 => Ok(Stage::Bitshuffle),
            3 => Ok(Stage::Delta),
            4 => Ok(Stage::Truncate),
            _ => Err(Fault::Unsupported("a stage that is a plugin of blosc2")),
        }
    }

    /// How many bytes of a block it changes. `whole` says that bits are shuffled only if the elements are a multiple of 8.
    pub(crate) fn reach(self, size: usize, len: usize, whole: bool) -> usize {
        let elements = len / size;
        match self {
            Stage::Bitshuffle if whole && !elements.is_multiple_of(8) => 0,
            Stage::Bitshuffle => elements / 8 * 8 * size,
            Stage::Delta => len - len % delta_width(size),
            _ => len,
        }
    }

    pub(crate) fn id(self) -> u8 {
        match self {
            Stage::None => 0,
            Stage::Shuffle(_) => 1,
            Stage::Bitshuffle => 2,
            Stage::Delta => 3,
            Stage::Truncate => 4,
        }
    }
}

/// Deltas are taken by machine words.
pub(super) fn delta_width(size: usize) -> usize {
    match size {
        1 | 2 | 4 | 8 => size,
        _ if size.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// A chunk that is not stored but told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Zeros,
    Nans,
    /// One value follows the header.
    Value,
    /// Anything; zeros are as good.
    Uninitialized,
}

impl Special {
    /// From three bits; `None` for a chunk that is stored.
    pub(crate) fn read(bits: u8) -> Result<Option<Special>, Fault> {
        Ok(match bits & 7 {
            0 => None,
            1 => Some(Special::Zeros),
            2 => Some(Special::Nans),
            3 => Some(Special::Value),
            4 => Some(Special::Uninitialized),
            _ => return Err(Fault::Corrupt("an unknown kind of special chunk")),
        })
    }
}

pub(super) struct Header {
    /// Whether streams of a block may be told instead of stored, and how blocks are split.
    pub(super) extended: bool,
    pub(super) whole_bitshuffle: bool,
    pub(super) copied: bool,
    pub(super) split: bool,
    /// `None` for a plugin of blosc2.
    pub(super) inner: Option<Inner>,
    pub(super) size: usize,
    pub(super) len: usize,
    pub(super) block: usize,
    pub(super) stored: usize,
    /// In the order in which they were applied.
    pub(super) stages: [Stage; 6],
    pub(super) special: Option<Special>,
}

impl Header {
    /// The most bytes that a container of so many has. With the longer header, a few bytes may tell of any number of equal ones.
    pub(super) fn most_decoded(&self, stored: u64) -> u64 {
        match self.inner {
            _ if self.extended => MAX_LEN,
            _ if self.copied => stored,
            inner => stored.saturating_mul(inner.map_or(1, Inner::max_ratio)).min(MAX_LEN),
        }
    }

    pub(super) fn len_in_file(&self) -> usize {
        if self.extended { EXTENDED_LEN } else { LEN }
    }

    pub(super) fn read(input: &[u8]) -> Result<Header, Fault> {
        let mut cursor = Cursor::new(input);
        let (format, _, flags, size) = (cursor.u8()?, cursor.u8()?, cursor.u8()?, cursor.u8()?);
        let (len, block, stored) = (to_len(cursor.u32()?)?, to_len(cursor.u32()?)?, to_len(cursor.u32()?)?);
        if size == 0 || block == 0 {
            return Err(Fault::Corrupt("elements or blocks without bytes"));
        }
        let extended = flags & SHUFFLED != 0 && flags & BITSHUFFLED != 0;
        let mut header = Header {
            extended,
            whole_bitshuffle: format < FORMAT_3,
            copied: flags & COPIED != 0,
            split: flags & UNSPLIT == 0,
            inner: Inner::from_format(flags >> 5),
            size: usize::from(size),
            len,
            block: block.min(len.max(1)),
            stored,
            stages: [Stage::None; 6],
            special: None,
        };
        if extended {
            header.read_extension(&mut cursor)?;
        } else {
            let [.., delta, shuffle] = &mut header.stages;
            if flags & SHUFFLED != 0 {
                *shuffle = Stage::Shuffle(0);
            }
            if flags & BITSHUFFLED != 0 {
                *shuffle = Stage::Bitshuffle;
            }
            if flags & DELTA != 0 {
                *delta = Stage::Delta;
            }
        }
        Ok(header)
    }

    fn read_extension(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let ids = cursor.take(6)?;
        cursor.skip(2)?;
        let notes = cursor.take(6)?;
        for (stage, (id, note)) in self.stages.iter_mut().zip(ids.iter().zip(notes)) {
            *stage = Stage::read(*id, *note)?;
        }
        let (variable_blocks, flags) = (cursor.u8()? & 1 != 0, cursor.u8()?);
        if variable_blocks || flags & (DICTIONARY | LAZY | INSTRUMENTED) != 0 {
            return Err(Fault::Unsupported(
                "a blosc2 chunk with a dictionary, with blocks of unequal length, or without data",
            ));
        }
        self.special = Special::read(flags >> 4)?;
        Ok(())
    }
}
