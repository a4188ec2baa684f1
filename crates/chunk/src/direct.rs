//! Chunks as they are stored, past the filters.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_file::OpenFile;
use hyperslab_format::{ChunkEntry, message::ChunkIndex};
use hyperslab_space::Coords;

use crate::{Chunked, Error, Filling, Index, Result, publish::Made};

impl Chunked {
    /// The stored bytes of the chunk at a place in the grid, and the filters that were left out; nothing if it was never written.
    pub fn read_chunk(&self, file: &OpenFile, place: &[u64]) -> Result<Option<(u32, Vec<u8>)>> {
        let Some(entry) = self.entry(file, place)? else { return Ok(None) };
        let (address, size) = (entry.address.unwrap_or(0), entry.size);
        file.check("chunk", address, size)?;
        let mut bytes = memory::zeroed(size)?;
        file.read_raw("chunk", vec![(address, bytes.as_mut_slice())])?;
        Ok(Some((entry.mask, bytes)))
    }

    /// Stores bytes as the chunk at a place in the grid; they went through the filters already, but for those of `mask`. Whether the
    /// layout message must say something new.
    pub fn write_chunk(
        &mut self,
        file: &OpenFile,
        place: &[u64],
        mask: u32,
        bytes: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        let plain = !self.is_coded(place, &self.extent);
        if plain && (bytes.len() != self.bytes || mask != 0) {
            let why =
                format!("{} bytes for chunk {place:?}, which has no filters and {} bytes", bytes.len(), self.bytes);
            return Err(Error::Layout(why));
        }
        let mut moved = false;
        if self.kind == ChunkIndex::Implicit && matches!(self.index, Index::Empty) {
            moved |= self.allocate_all(file, filling)?;
        }
        let old = self.entry(file, place)?;
        if let Some(address) = old.as_ref().and_then(|old| old.address).filter(|_| plain) {
            file.write_raw("chunk", &[(address, bytes)])?;
            return Ok(moved);
        }
        let bytes = Some(Cow::Borrowed(bytes));
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len());
        moved |= self.publish(file, &[Made { place: place.into(), old, size, bytes, mask }])?;
        Ok(moved)
    }

    /// What the index says of a chunk, whose place must be one of the dataset.
    fn entry(&self, file: &OpenFile, place: &[u64]) -> Result<Option<ChunkEntry>> {
        if place.len() != self.chunk().len() || self.is_outside(place, &self.extent) {
            let why = format!("there is no chunk {place:?} in an extent of {:?}", self.extent.dims());
            return Err(Error::Layout(why));
        }
        let place: Coords = place.into();
        Ok(self.index.find_all(file, &[place], self.chunk())?.pop().flatten())
    }
}
