//! Structured chunks as they are stored, past the filters.

use hyperslab_chunk::{CheckedChunk, Chunked, Storage, StructuredChunk};
use hyperslab_format::ChunkEntry;
use hyperslab_space::Coords;

use super::OpenDataset;
use crate::{Error, Result};

impl OpenDataset {
    /// What the index says of the chunk at a place in the grid of chunks; nothing if it was never written, or has no element.
    pub fn structured_entry(&self, place: impl AsRef<[u64]>) -> Result<Option<ChunkEntry>> {
        let place = place.as_ref();
        self.look_at_chunk(place, |chunked| chunked.entry(self.stored(), place))
    }

    /// The chunks that have elements, by rising place in the grid.
    pub fn structured_entries(&self) -> Result<Vec<(Coords, ChunkEntry)>> {
        self.check_structured()?;
        self.stored_entries()
    }

    /// The stored sections of the chunk at a place in the grid of chunks; nothing if it was never written, or has no element.
    pub fn read_structured_chunk(&self, place: impl AsRef<[u64]>) -> Result<Option<StructuredChunk>> {
        let place = place.as_ref();
        let read = self.look_at_chunk(place, |chunked| chunked.read_structured_chunk(self.stored(), place))?;
        self.count_bypass(read.as_ref().map_or(0, StructuredChunk::bytes))?;
        Ok(read)
    }

    /// Stores sections as the chunk at a place in the grid of chunks. They went through the filters already, but for those of their masks. A chunk that readers
    /// would refuse is an error, and nothing has changed; one that defines no element takes no space.
    pub fn write_structured_chunk(&self, place: impl AsRef<[u64]>, chunk: &StructuredChunk) -> Result<()> {
        let place = place.as_ref();
        self.check_structured()?;
        self.session().check_changeable()?;
        let Some(partition) = self.partition()? else { return Err(self.no_sections()) };
        let writing = self.session().writing()?;
        let _guard = self.lock_chunk(partition, place);
        let checked = CheckedChunk::new(self.stored(), &self.inner.storage, place, chunk);
        let checked = checked.map_err(|why| self.locate(why.into()))?;
        self.check_sequences(&checked).map_err(|why| self.locate(why))?;
        if self.datatype().has_reference() {
            self.session().operate_within(&writing, || self.publish_objects())?;
        }
        let cache = &self.session().engine.partitions.cache;
        let written = cache.write_structured_chunk(self.stored(), partition, checked);
        written.map_err(|why| self.locate(why.into()))
    }

    /// What `look` finds out of the chunks, when the file has the one at a place as it is now.
    fn look_at_chunk<T>(
        &self,
        place: &[u64],
        look: impl FnOnce(&Chunked) -> hyperslab_chunk::Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.check_structured()?;
        let _guard = self.lock_chunk_to_read(place)?;
        if let Some(partition) = self.partition()? {
            self.session().engine.partitions.cache.flush_chunk(partition, place)?;
        }
        let now = self.now();
        self.session().read_current(|| match &self.values(&now)?.storage {
            Storage::Chunked(chunked) => look(chunked).map_err(|why| self.locate(why.into())),
            _ => Err(self.no_sections()),
        })
    }

    fn check_structured(&self) -> Result<()> {
        if self.inner.structure.is_some() { Ok(()) } else { Err(self.no_sections()) }
    }

    /// The dataset has no chunks of several sections.
    fn no_sections(&self) -> Error {
        let why = "it has no chunks of several sections; read_chunk and write_chunk are for chunks in one piece";
        Error::Change(format!("dataset at address {:#x}: {why}", self.address()))
    }
}
