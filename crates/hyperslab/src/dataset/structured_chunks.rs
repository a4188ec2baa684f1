//! Stored chunks of several sections.

use hyperslab_format::ChunkEntry;
use hyperslab_session::StructuredChunk;

use super::Dataset;
use crate::Result;

/// Where a structured chunk is in the file, and what its sections are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuredChunkInfo {
    /// Its place in the grid of chunks.
    pub place: Vec<u64>,
    /// The address of its first byte, counted as other addresses of the file are: from the end of a user block.
    pub address: u64,
    /// The stored bytes of all sections, which lie back to back.
    pub size: u64,
    /// The sections in their order: the selection of a sparse chunk, the values, what is of variable length in them.
    pub sections: Vec<SectionInfo>,
}

/// Where a section is in its chunk, and which filters it went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionInfo {
    /// How many bytes of the chunk come before it.
    pub offset: u64,
    /// Its stored bytes.
    pub size: u64,
    /// How many bytes it has before its filters.
    pub unfiltered: u64,
    /// The filters that were left out: bit n stands for the n-th.
    pub mask: u32,
}

impl StructuredChunkInfo {
    /// What an index says of a chunk; nothing if that is nowhere.
    fn of(place: &[u64], entry: &ChunkEntry) -> Option<StructuredChunkInfo> {
        let section = |(number, section): (usize, hyperslab_chunk::Section)| {
            let hyperslab_chunk::Section { size, mask, unfiltered } = section;
            SectionInfo { offset: entry.sections.before(number), size, unfiltered: unfiltered.unwrap_or(size), mask }
        };
        let sections = entry.sections.iter().enumerate().map(section).collect();
        Some(StructuredChunkInfo { place: place.to_vec(), address: entry.address?, size: entry.size(), sections })
    }
}

/// Chunks of several sections as they are stored: those of [sparse](crate::NewDataset::sparse) datasets, and those that have [values of variable
/// length](crate::NewDataset::vlen_in_chunks) in them. The bytes of each section are described in `docs/structured-chunks.md`. [`Dataset::read_chunk`] and
/// [`Dataset::write_chunk`] are for chunks in one piece.
impl Dataset {
    /// The stored sections of the structured chunk at a place in the grid of chunks; nothing if it was never written, or has no element. If only the cache has the
    /// chunk as it is now, it is written first.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u16>().shape([1000]).chunks([100]).sparse().create("row")?;
    /// row.write_slice(105..107, &[1, 2])?;
    /// let chunk = row.read_structured_chunk([1])?.unwrap_or_default();
    /// assert_eq!(chunk.sections[1].bytes, [1, 0, 2, 0]);
    /// assert!(row.read_structured_chunk([0])?.is_none());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_structured_chunk(&self, place: impl AsRef<[u64]>) -> Result<Option<StructuredChunk>> {
        self.open.read_structured_chunk(place)
    }

    /// Stores sections as the structured chunk at a place in the grid of chunks. They went through the filters already, but for those whose bit in a mask is set.
    ///
    /// The chunk is decoded before it is stored. If a reader would refuse it, or if it defines elements outside of the dataset, that is an error, and nothing has changed. A
    /// sparse chunk whose selection is empty leaves the dataset. Elements of a dense chunk that are outside of the dataset are not looked at.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = || file.root().map(|root| root.new_dataset::<u16>().shape([1000]).chunks([100]).sparse().deflate(6));
    /// let (from, to) = (new()?.create("from")?, new()?.create("to")?);
    /// from.write_slice(105..107, &[1, 2])?;
    /// let chunk = from.read_structured_chunk([1])?.unwrap_or_default();
    /// to.write_structured_chunk([7], &chunk)?;
    /// assert_eq!(to.read_slice::<u16>(704..708)?, [0, 1, 2, 0]);
    /// assert!(to.write_chunk([7], 0, &chunk.sections[1].bytes).is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_structured_chunk(&self, place: impl AsRef<[u64]>, chunk: &StructuredChunk) -> Result<()> {
        self.open.write_structured_chunk(place, chunk)
    }

    /// Where the structured chunk at a place in the grid of chunks is, and what its sections are; nothing if it was never written, or has no element. If only the cache
    /// has the chunk as it is now, it is written first.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u16>().shape([1000]).chunks([100]).sparse().shuffle().create("row")?;
    /// row.write_slice(105..107, &[1, 2])?;
    /// let sections = row.structured_chunk_info([1])?.map(|info| info.sections).unwrap_or_default();
    /// assert_eq!((sections[1].offset, sections[1].unfiltered, sections[1].mask), (sections[0].size, 4, 0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn structured_chunk_info(&self, place: impl AsRef<[u64]>) -> Result<Option<StructuredChunkInfo>> {
        let place = place.as_ref();
        Ok(self.open.structured_entry(place)?.and_then(|entry| StructuredChunkInfo::of(place, &entry)))
    }

    /// As [`Dataset::structured_chunk_info`], of the chunk with a number: stored chunks are counted from 0 by rising place in the grid. Nothing if there are not so
    /// many. Reads the index as a whole: [`Dataset::structured_chunks`] tells of all chunks at once.
    pub fn structured_chunk_info_by_number(&self, number: u64) -> Result<Option<StructuredChunkInfo>> {
        let Ok(number) = usize::try_from(number) else { return Ok(None) };
        Ok(self.structured_chunks()?.nth(number))
    }

    /// All stored chunks, by rising place in the grid: where they are, and what their sections are. Those that only the cache has are written first; no
    /// chunk is read. Tells of the chunks that are there when it is called.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u16>().shape([1000]).chunks([100]).sparse().create("row")?;
    /// row.write_slice(195..205, &[7; 10])?;
    /// let places: Vec<_> = row.structured_chunks()?.map(|info| info.place).collect();
    /// assert_eq!(places, [[1], [2]]);
    /// assert_eq!(row.structured_chunk_info_by_number(1)?, row.structured_chunk_info([2])?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn structured_chunks(&self) -> Result<impl Iterator<Item = StructuredChunkInfo> + use<>> {
        let entries = self.open.structured_entries()?.into_iter();
        Ok(entries.filter_map(|(place, entry)| StructuredChunkInfo::of(&place, &entry)))
    }
}
