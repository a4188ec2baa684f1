//! Structured chunks as they are stored, past the filters: read as they are, and checked before they are stored.
//!
//! ```text
//!  StructuredChunk --CheckedChunk::new--> CheckedChunk --Storer--> file
//!   sections of the caller                 the sections as the index knows them, and what a reader makes of them
//! ```

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_file::OpenFile;
use hyperslab_format::{Section, Sections};

use super::{ChunkCoord, EncodedChunk, Workspace, scatter::outside};
use crate::{Chunked, DatasetStorage, Error, Result, SparseChunk, Storage};

/// One section of a structured chunk as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedSection {
    /// The stored bytes. Those of a section with a checksum end with it, unless filters changed them.
    pub bytes: Vec<u8>,
    /// The filters of the section that were left out: bit n stands for the n-th.
    pub mask: u32,
    /// How many bytes the section has before its filters; as many as are stored if it has none.
    pub unfiltered: u64,
}

/// A structured chunk as it is stored: two sections, or three of sparse chunks with values of variable length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructuredChunk {
    /// The sections in their order.
    pub sections: Vec<EncodedSection>,
}

/// A structured chunk that a caller encoded and that was decoded as readers do it, so that none of them refuses it.
#[derive(Debug)]
pub struct CheckedChunk {
    encoded: EncodedChunk<'static>,
    decoded: SparseChunk,
}

/// What the index will know of a chunk that a caller gives.
struct Given {
    sections: Sections,
    filtered: bool,
    /// How many of its elements are in the dataset, by dimension.
    inside: Vec<u64>,
}

impl StructuredChunk {
    /// The stored bytes of all sections.
    pub fn bytes(&self) -> u64 {
        self.sections.iter().fold(0, |bytes, section| bytes.saturating_add(section.bytes.len() as u64))
    }

    fn of(chunk: &EncodedChunk<'_>) -> Result<StructuredChunk> {
        let section = |(number, section): (usize, Section)| {
            let bytes = memory::copied(chunk.section(number).ok_or_else(outside)?)?;
            Ok(EncodedSection { bytes, mask: section.mask, unfiltered: section.unfiltered.unwrap_or(section.size) })
        };
        Ok(StructuredChunk { sections: chunk.sections.iter().enumerate().map(section).collect::<Result<_>>()? })
    }

    /// The sections one after the other.
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = memory::with_room(usize::try_from(self.bytes()).unwrap_or(usize::MAX))?;
        self.sections.iter().try_for_each(|section| memory::append(&mut bytes, &section.bytes))?;
        Ok(bytes)
    }
}

impl CheckedChunk {
    /// Decodes a chunk that is to be stored at a coordinate. An error if the index cannot tell of it, if its sections are malformed or do not belong together, or if it
    /// defines elements outside of the dataset. The caller holds the range lock for all of the chunk, so that the extent stays as it is, and no other lock: filters may
    /// be code of the caller.
    pub fn new(
        file: &OpenFile,
        storage: &DatasetStorage,
        coord: &[u64],
        chunk: &StructuredChunk,
    ) -> Result<CheckedChunk> {
        let (layout, given) = {
            let view = storage.live_view()?;
            let Storage::Chunked(chunked) = &view.values()?.storage else {
                return Err(Error::Layout("it is not chunked".into()));
            };
            (chunked.chunks.clone(), chunked.given(file, coord, chunk)?)
        };
        let Given { sections, filtered, inside } = given;
        let (coord, bytes): (ChunkCoord, _) = (coord.into(), Cow::Owned(chunk.to_bytes()?));
        let encoded = EncodedChunk::structured(coord, bytes, sections, filtered).ok_or_else(outside)?;
        let decoded = SparseChunk::decode(&layout, &encoded.sections, &encoded, &mut Workspace::default())?;
        decoded.check_inside(&layout, &encoded.coord, &inside)?;
        let nothing = layout.structured().map(|structured| structured.nothing()).filter(|_| decoded.is_empty());
        let encoded = match nothing {
            Some(nothing) => EncodedChunk::nowhere(encoded.coord, nothing, filtered),
            None => encoded,
        };
        Ok(CheckedChunk { encoded, decoded })
    }

    /// The chunk as the file will have it.
    pub(crate) fn into_encoded(self) -> EncodedChunk<'static> {
        self.encoded
    }

    /// The values of its elements as they are stored, in parts: each with the bytes that its slots count offsets in, from four bytes before the first.
    pub fn values(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.decoded.values().map(|values| (values.fixed, values.heap))
    }

    /// What is of variable length in the chunk is malformed.
    pub fn refuse_vlen(&self, why: String) -> Error {
        let section = self.encoded.sections.len().saturating_sub(1);
        Error::section(&self.encoded.coord, section, why)
    }
}

impl Chunked {
    /// The stored sections of the chunk at a coordinate; nothing if the file has none.
    pub fn read_structured_chunk(&self, file: &OpenFile, coord: &[u64]) -> Result<Option<StructuredChunk>> {
        let Some(entry) = self.entry(file, coord)? else { return Ok(None) };
        let chunk = self.read_entries(file, &[(coord.into(), entry)])?.pop();
        chunk.as_ref().map(StructuredChunk::of).transpose()
    }

    /// What the index will know of a chunk. An error if it cannot have the chunk.
    fn given(&self, file: &OpenFile, coord: &[u64], chunk: &StructuredChunk) -> Result<Given> {
        self.check_inside(coord)?;
        self.check_coord(coord)?;
        let (given, nothing) = (&chunk.sections, self.nowhere().sections);
        if given.len() != nothing.len() {
            let why = format!("{} sections for chunk {coord:?}, where chunks have {}", given.len(), nothing.len());
            return Err(Error::Layout(why));
        }
        self.check_size(file, coord, chunk.bytes())?;
        let section = |(number, section): (usize, &EncodedSection)| {
            let EncodedSection { bytes, mask, unfiltered } = section;
            let size = bytes.len() as u64;
            if !nothing.has_unfiltered() && (*unfiltered != size || *mask != 0) {
                let why = format!(
                    "{unfiltered} bytes before the filters and mask {mask:#x}, where {size} bytes and mask 0 belong: the dataset has no filters"
                );
                return Err(Error::section(coord, number, why));
            }
            Ok(Section { size, mask: *mask, unfiltered: nothing.has_unfiltered().then_some(*unfiltered) })
        };
        let sections = given.iter().enumerate().map(section).collect::<Result<Vec<_>>>()?;
        let sections = Sections::new(&sections).ok_or_else(outside)?;
        let filtered = self.is_filtered(coord, &self.extent);
        Ok(Given { sections, filtered, inside: self.sides_inside(coord).collect() })
    }
}
