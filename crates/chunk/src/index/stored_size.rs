//! How much of a chunked dataset is stored.

use hyperslab_file::{Error, OpenFile};

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
        if matches!(self.index, Index::Implicit(_)) {
            let per_dimension = self.extent.dims().iter().zip(self.chunk()).map(|(dim, size)| dim.div_ceil(*size));
            let chunks = per_dimension.fold(1u64, u64::saturating_mul);
            return Ok(Stored { chunks, bytes: chunks.saturating_mul(self.bytes() as u64) });
        }
        let (mut stored, mut visited) = (Stored::default(), 0);
        self.index.for_each(file, self.chunk(), &mut |_, entry| {
            visited += 1;
            // Blocks of an index that name each other could go on for very long.
            if visited > file.end() {
                let address = entry.address.unwrap_or(0);
                return Err(Error::broken("chunk index", address, "more chunks than the file has bytes"));
            }
            if entry.address.is_some() {
                stored.chunks += 1;
                stored.bytes = stored.bytes.saturating_add(entry.size());
            }
            Ok(())
        })?;
        Ok(stored)
    }
}
