//! Chunks as they are stored, past the filters.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::Coords;

use crate::{Chunked, Error, Filling, Result, transfer::publish::Made};

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
        self.check_chunk(file, place, mask, bytes.len())?;
        let plain = !self.is_coded(place, &self.extent);
        self.publish(file, filling, |chunked| {
            let old = chunked.entry(file, place)?;
            if let Some(address) = old.as_ref().and_then(|old| old.address).filter(|_| plain) {
                file.write_raw("chunk", &[(address, bytes)])?;
                return Ok(Vec::new());
            }
            let (size, bytes) = (bytes.len(), Some(Cow::Borrowed(bytes)));
            Ok(vec![chunked.write_made(file, &[Made { place: place.into(), old, size, bytes, mask }])?])
        })
    }

    /// Refuses a stored chunk of so many bytes that cannot be put at a place.
    pub fn check_chunk(&self, file: &OpenFile, place: &[u64], mask: u32, bytes: usize) -> Result<()> {
        self.check_inside(place)?;
        self.check_place(place)?;
        self.check_size(file, place, bytes)?;
        if !self.is_coded(place, &self.extent) && (bytes != self.bytes || mask != 0) {
            let why = format!("{bytes} bytes for chunk {place:?}, which has no filters and {} bytes", self.bytes);
            return Err(Error::Layout(why));
        }
        Ok(())
    }

    /// Refuses a place where the dataset has no chunk.
    fn check_inside(&self, place: &[u64]) -> Result<()> {
        if place.len() != self.chunk().len() || self.is_outside(place, &self.extent) {
            let why = format!("there is no chunk {place:?} in an extent of {:?}", self.extent.dims());
            return Err(Error::Layout(why));
        }
        Ok(())
    }

    /// What the index says of a chunk, whose place must be one of the dataset.
    fn entry(&self, file: &OpenFile, place: &[u64]) -> Result<Option<ChunkEntry>> {
        self.check_inside(place)?;
        let place: Coords = place.into();
        Ok(self.index.find_all(file, &[place], self.chunk())?.pop().flatten())
    }
}
