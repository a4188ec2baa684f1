//! Dense chunks as they are stored, past the filters.

use std::borrow::Cow;

use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;

use super::{ChunkCoord, EncodedChunk, Storer, allocation::Overwrite};
use crate::{Chunked, Error, Filling, Result};

impl Chunked {
    /// The stored bytes of the chunk at a coordinate, and the filters that were left out; nothing if it was never written.
    pub fn read_chunk(&self, file: &OpenFile, coord: &[u64]) -> Result<Option<(u32, Vec<u8>)>> {
        self.check_dense()?;
        let Some(entry) = self.entry(file, coord)? else { return Ok(None) };
        let chunk = self.read_entries(file, &[(coord.into(), entry)])?.pop();
        Ok(chunk.map(|chunk| (chunk.sections.mask(), chunk.into_bytes().into_owned())))
    }

    /// Stores bytes as the chunk at a coordinate; they went through the filters already, but for those of `mask`. Whether the layout message must
    /// say something new.
    pub fn write_chunk(
        &mut self,
        file: &OpenFile,
        coord: &[u64],
        mask: u32,
        bytes: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        self.check_chunk(file, coord, mask, bytes.len())?;
        let filtered = self.is_filtered(coord, &self.extent);
        let chunk = EncodedChunk::dense(coord.into(), Cow::Borrowed(bytes), mask, filtered);
        self.publish(file, filling, |chunked| {
            let old = vec![chunked.entry(file, coord)?];
            Ok(vec![Storer::new(file).store(chunked, &[&chunk], old, Overwrite::Unfiltered)?])
        })
    }

    /// Refuses a stored chunk of so many bytes that cannot be put at a coordinate.
    pub fn check_chunk(&self, file: &OpenFile, coord: &[u64], mask: u32, bytes: usize) -> Result<()> {
        self.check_dense()?;
        self.check_inside(coord)?;
        self.check_coord(coord)?;
        self.check_size(file, coord, bytes as u64)?;
        if !self.is_filtered(coord, &self.extent) && (bytes != self.bytes() || mask != 0) {
            let why = format!("{bytes} bytes for chunk {coord:?}, which has no filters and {} bytes", self.bytes());
            return Err(Error::Layout(why));
        }
        Ok(())
    }

    /// Refuses chunks of several sections, which are no one piece of bytes with one filter mask.
    fn check_dense(&self) -> Result<()> {
        match self.structure() {
            None => Ok(()),
            Some(_) => {
                let why =
                    "chunks of the dataset have several sections: use read_structured_chunk and write_structured_chunk";
                Err(Error::Layout(why.into()))
            }
        }
    }

    /// Refuses a coordinate where the dataset has no chunk.
    pub(super) fn check_inside(&self, coord: &[u64]) -> Result<()> {
        if coord.len() != self.chunk().len() || self.is_outside(coord, &self.extent) {
            let why = format!("there is no chunk {coord:?} in an extent of {:?}", self.extent.dims());
            return Err(Error::Layout(why));
        }
        Ok(())
    }

    /// What the index says of a chunk, whose coordinate must be one of the dataset; nothing if the file has none.
    pub fn entry(&self, file: &OpenFile, coord: &[u64]) -> Result<Option<ChunkEntry>> {
        self.check_inside(coord)?;
        let coord: ChunkCoord = coord.into();
        Ok(self.index.find_all(file, &[coord], self.chunk())?.pop().flatten())
    }
}
