//! The stored bytes of a chunk, and what the index knows of them.
//!
//! ```text
//!  StoredAt       address ──► ┌───────────┬───────────┬───────────┐
//!  EncodedChunk   bytes       │ section 0 │ section 1 │ section 2 │   back to back; a dense chunk has section 0 alone
//!                             └───────────┴───────────┴───────────┘
//!  Sections                    size, mask  size, mask  size, mask
//! ```

use std::{borrow::Cow, ops::Range};

use hyperslab_base::memory;
use hyperslab_format::Sections;
use hyperslab_space::Coords;

use crate::Result;

/// The coordinate of a chunk in the grid of chunks.
pub type ChunkCoord = Coords;

/// Where a chunk is stored, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAt {
    /// The address of the first byte.
    pub address: u64,
    /// What the index knows of each section.
    pub sections: Sections,
    /// Whether the bytes went through the filters.
    pub filtered: bool,
    /// The number of bytes that the extent needs of those that come out of the filters: at the edge they end before the chunk does.
    pub needed: usize,
}

impl StoredAt {
    /// Where some sections are, one after the other: loading them leaves the others for later.
    pub fn sections(&self, numbers: Range<usize>) -> Option<StoredAt> {
        let address = self.address.checked_add(self.sections.before(numbers.start))?;
        let sections = numbers.map(|number| self.sections.get(number)).collect::<Option<Vec<_>>>()?;
        Some(StoredAt { address, sections: Sections::new(&sections)?, ..*self })
    }
}

/// The stored bytes of one chunk, with what the index knows of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedChunk<'a> {
    /// The coordinate in the grid.
    pub coord: ChunkCoord,
    /// The sizes and masks of the sections.
    pub sections: Sections,
    /// Whether the bytes went through the filters.
    pub filtered: bool,
    /// The bytes of all sections; nothing if space is allocated for the chunk and left as it is, or if it has nothing.
    pub(super) bytes: Option<Cow<'a, [u8]>>,
}

impl<'a> EncodedChunk<'a> {
    /// A dense chunk: one section.
    pub fn dense(coord: ChunkCoord, bytes: Cow<'a, [u8]>, mask: u32, filtered: bool) -> EncodedChunk<'a> {
        let sections = Sections::one(bytes.len() as u64, mask);
        EncodedChunk { coord, sections, filtered, bytes: Some(bytes) }
    }

    /// A chunk of several sections, whose bytes are those of the sections one after the other; nothing if they are not.
    pub fn structured(coord: ChunkCoord, bytes: Cow<'a, [u8]>, sections: Sections, filtered: bool) -> Option<Self> {
        let belong = sections.bytes() == bytes.len() as u64;
        belong.then_some(EncodedChunk { coord, sections, filtered, bytes: Some(bytes) })
    }

    /// A structured chunk that has nothing, whose sections are empty: the file has no such chunk.
    pub(crate) fn nowhere(coord: ChunkCoord, sections: Sections, filtered: bool) -> EncodedChunk<'static> {
        EncodedChunk { coord, sections, filtered, bytes: None }
    }

    /// Whether the file has no such chunk, because it has nothing.
    pub(crate) fn is_nowhere(&self) -> bool {
        !self.sections.is_dense() && self.sections.bytes() == 0
    }

    /// Whether it is written over an older chunk of the same size: not if a write that is torn would leave sections that do not belong together.
    pub(crate) fn is_in_place(&self) -> bool {
        self.sections.is_dense() && !self.filtered
    }

    /// A dense chunk without filters, whose space is allocated and keeps whatever bytes are there.
    pub(crate) fn unwritten(coord: ChunkCoord, size: u64) -> EncodedChunk<'a> {
        EncodedChunk { coord, sections: Sections::one(size, 0), filtered: false, bytes: None }
    }

    /// A stored chunk, whose bytes are read, or read next: as many as the index says.
    pub(crate) fn of(coord: &ChunkCoord, at: &StoredAt, bytes: Cow<'a, [u8]>) -> EncodedChunk<'a> {
        let (coord, sections, filtered) = (coord.clone(), at.sections.clone(), at.filtered);
        EncodedChunk { coord, sections, filtered, bytes: Some(bytes) }
    }

    /// The stored bytes, to be read or changed.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Some(self.bytes.as_mut()?.to_mut().as_mut_slice())
    }

    /// The stored bytes; nothing if none are written.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The stored bytes of a section.
    pub fn section(&self, number: usize) -> Option<&[u8]> {
        let start = usize::try_from(self.sections.before(number)).ok()?;
        let size = usize::try_from(self.sections.get(number)?.size).ok()?;
        self.bytes()?.get(start..start.checked_add(size)?)
    }

    /// The stored bytes, as they are or copied.
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes.unwrap_or_default()
    }

    /// The memory that the bytes take here.
    pub(crate) fn memory(&self) -> usize {
        match &self.bytes {
            Some(Cow::Owned(bytes)) => bytes.capacity(),
            _ => 0,
        }
    }

    /// The same chunk, with its bytes in memory of its own.
    pub(crate) fn into_owned(self) -> Result<EncodedChunk<'static>> {
        let EncodedChunk { coord, sections, filtered, bytes } = self;
        let bytes = match bytes {
            Some(Cow::Borrowed(bytes)) => Some(Cow::Owned(memory::copied(bytes)?)),
            Some(Cow::Owned(bytes)) => Some(Cow::Owned(bytes)),
            None => None,
        };
        Ok(EncodedChunk { coord, sections, filtered, bytes })
    }

    /// The same chunk, with bytes that stay here.
    pub fn borrowed(&self) -> EncodedChunk<'_> {
        let bytes = self.bytes().map(Cow::Borrowed);
        EncodedChunk { coord: self.coord.clone(), sections: self.sections.clone(), filtered: self.filtered, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_format::Section;

    #[test]
    fn sections_lie_back_to_back() {
        let [first, second] = [(2, 0), (3, 4)].map(|(size, mask)| Section { size, mask, unfiltered: None });
        let sections = Sections::new(&[first, second]).unwrap();
        let at = StoredAt { address: 100, sections: sections.clone(), filtered: true, needed: 0 };
        let second = at.sections(1..2).unwrap();
        assert_eq!((second.address, second.sections), (102, Sections::one(3, 4)));
        assert_eq!((at.sections(2..3), at.sections(0..2)), (None, Some(at.clone())));
        let chunk =
            EncodedChunk::structured(ChunkCoord::from_slice(&[7]), Cow::Borrowed(b"abcde"), sections.clone(), true);
        let chunk = chunk.unwrap();
        assert_eq!((chunk.section(0), chunk.section(1), chunk.section(2)), (Some(&b"ab"[..]), Some(&b"cde"[..]), None));
        assert!(EncodedChunk::structured(chunk.coord.clone(), Cow::Borrowed(b"abc"), sections, true).is_none());
    }
}
