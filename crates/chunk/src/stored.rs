//! How much of a chunked dataset is stored.

use hyperslab_file::{Error, OpenFile};
use hyperslab_format::ChunkEntry;

use crate::{Chunked, Index, Result};

/// What the chunks of a dataset take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// How many chunks were ever written.
    pub chunks: u64,
    /// Their bytes as stored, filters applied.
    pub bytes: u64,
}

impl Chunked {
    /// Walks the whole index, and no chunk.
    pub fn stored(&self, file: &OpenFile) -> Result<Stored> {
        let mut stored = Stored::default();
        let mut add = |entry: &ChunkEntry| stored.add(entry, file);
        match &self.index {
            Index::Empty => {}
            Index::Single(entry) => add(entry)?,
            Index::BtreeV1(tree) => tree.for_each(file, &mut |entry| add(&entry))?,
            Index::BtreeV2(tree) => tree.for_each(file, &mut |entry| add(&entry))?,
            Index::FixedArray(array, _) => array.for_each(file, &mut |_, entry| add(entry))?,
            Index::ExtensibleArray(array, _) => array.for_each(file, &mut |_, entry| add(entry))?,
            Index::Implicit(_) => {
                let per_dimension = self.extent.dims().iter().zip(self.chunk()).map(|(dim, size)| dim.div_ceil(*size));
                let chunks = per_dimension.fold(1u64, u64::saturating_mul);
                stored = Stored { chunks, bytes: chunks.saturating_mul(self.bytes as u64) };
            }
        }
        Ok(stored)
    }
}

impl Stored {
    fn add(&mut self, entry: &ChunkEntry, file: &OpenFile) -> hyperslab_file::Result<()> {
        self.chunks += 1;
        self.bytes = self.bytes.saturating_add(entry.size);
        // Blocks of an index that name each other could go on for very long.
        if self.chunks > file.end() {
            let address = entry.address.unwrap_or(0);
            return Err(Error::broken("chunk index", address, "more chunks than the file has bytes"));
        }
        Ok(())
    }
}
