//! Values as they are stored, from one dataset to another.

use hyperslab_chunk::{EncodedChunk, Storage};
use hyperslab_format::{ChunkEntry, message::DataLayout};
use hyperslab_space::{Coords, Extent, Space};

use super::{OpenDataset, change::filling};
use crate::{Error, Result, heap_writer::HeapWriter};

impl OpenDataset {
    /// How it is stored, as the header says it.
    pub fn stored_layout(&self) -> DataLayout {
        self.now().layout.clone()
    }

    /// Its size as the header says it, also if it grows with its sources.
    pub fn stored_extent(&self) -> Result<Extent> {
        match self.inner.virtual_dataset {
            Some(_) => Ok(self.object()?.extent(&self.session().engine.context)?),
            None => Ok(self.extent()),
        }
    }

    /// Refuses values that are said to be in one place and are not: to be asked before memory is taken for them.
    pub fn check_values(&self) -> Result<()> {
        Ok(self.values(&self.now())?.check(self.stored())?)
    }

    /// Where its datatype is committed, if it is.
    pub fn committed(&self) -> Option<u64> {
        self.inner.committed
    }

    /// The chunks that were ever written, by rising place in the grid; nothing if it has no chunks.
    pub fn stored_entries(&self) -> Result<Vec<(Coords, ChunkEntry)>> {
        self.flush_chunks()?;
        let now = self.now();
        self.session().read_current(|| match &self.values(&now)?.storage {
            Storage::Chunked(chunked) => Ok(chunked.entries(self.stored())?),
            _ => Ok(Vec::new()),
        })
    }

    /// The places of chunks that were ever written, rising; nothing if it has no chunks.
    pub fn chunk_places(&self) -> Result<Vec<Vec<u64>>> {
        Ok(self.stored_entries()?.into_iter().map(|(coord, _)| coord.to_vec()).collect())
    }

    /// The stored bytes of some chunks.
    pub fn read_entries(&self, entries: &[(Coords, ChunkEntry)]) -> Result<Vec<EncodedChunk<'static>>> {
        let now = self.now();
        self.session().read_current(|| match &self.values(&now)?.storage {
            Storage::Chunked(chunked) => Ok(chunked.read_entries(self.stored(), entries)?),
            _ => Ok(Vec::new()),
        })
    }

    /// One operation: stores chunks of rising places, which went through the filters already.
    pub fn write_entries(&self, chunks: &[EncodedChunk<'_>]) -> Result<()> {
        let _guard = self.lock_all()?;
        self.session().operate_on(self.address(), || {
            let mut change = self.change()?;
            let filling = filling(self);
            let Storage::Chunked(chunked) = &mut change.values()?.storage else {
                return Err(Error::Change("the dataset is not stored in chunks".into()));
            };
            let moved = chunked.write_stored(self.stored(), chunks, &filling)?;
            change.moved |= moved;
            change.save()
        })
    }

    /// One operation: writes the stored values that `make` makes to the selected places.
    pub fn write_stored(&self, selection: &Space, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        let _guard = self.lock_all()?;
        self.session().operate_on(self.address(), || {
            let mut change = self.change()?;
            self.check_selection(selection, change.extent())?;
            let bytes = make()?;
            change.write_naming(&mut HeapWriter::new(self.session()), selection, &bytes)?;
            change.save()
        })
    }
}
