//! How much place the values of a dataset take.

use hyperslab_chunk::Storage;
use hyperslab_format::message;

use super::OpenDataset;
use crate::Result;

/// How much place values take, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSize {
    /// The bytes that hold values, in this file or in external ones; none for values that were never written, or are those of other
    /// datasets.
    pub bytes: u64,
    /// How many chunks were ever written, if there are chunks.
    pub chunks: Option<u64>,
}

impl OpenDataset {
    /// How much place its values take, as stored. Reads the index of a chunked dataset as a whole, when the file has all of its
    /// chunks; else costs nothing.
    pub fn stored_size(&self) -> Result<StoredSize> {
        self.flush_chunks()?;
        let now = self.now();
        let whole = now.extent.bytes(self.stored_datatype().size() as u64).unwrap_or(u64::MAX);
        let one = |bytes| Ok(StoredSize { bytes, chunks: None });
        self.session().read_current(|| match &now.layout.layout {
            message::Layout::Compact(values) => one(values.len() as u64),
            message::Layout::Contiguous { address: Some(_), size } => one(size.unwrap_or(whole)),
            message::Layout::Contiguous { address: None, .. } => match self.values(&now)?.storage {
                Storage::External(_) => one(whole),
                _ => one(0),
            },
            message::Layout::Virtual { .. } => one(0),
            message::Layout::Chunked { .. } => match &self.values(&now)?.storage {
                Storage::Chunked(chunked) => {
                    let stored = chunked.stored(self.session().file())?;
                    Ok(StoredSize { bytes: stored.bytes, chunks: Some(stored.chunks) })
                }
                _ => one(0),
            },
        })
    }
}
