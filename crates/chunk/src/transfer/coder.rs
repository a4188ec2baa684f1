//! Chunks through the filters, there and back.

use std::sync::Arc;

use hyperslab_base::memory;
use hyperslab_filter::{Pipeline, Registry};

use crate::{Error, Result};

/// The filters of a dataset, and the size of its chunks. Never changes, so that chunks are coded while nothing is locked.
#[derive(Debug)]
pub struct Coder {
    pipeline: Pipeline,
    registry: Arc<Registry>,
    bytes: usize,
}

impl Coder {
    pub(crate) fn new(pipeline: Pipeline, registry: Arc<Registry>, bytes: usize) -> Coder {
        Coder { pipeline, registry, bytes }
    }

    /// Whether there are filters.
    pub(crate) fn filters(&self) -> bool {
        !self.pipeline.steps().is_empty()
    }

    /// The mask of a chunk that went through none of them.
    pub(crate) fn mask_of_all(&self) -> u32 {
        u32::MAX >> 32u32.saturating_sub(self.pipeline.steps().len() as u32).min(31)
    }

    /// Undoes the filters of the chunk at a coordinate, but for those of `mask`. `room` is replaced by the chunk. If they give fewer bytes, but `needed` ones, the
    /// others are zeros: some programs store of a chunk on the edge only what the dataset has of it, which libhdf5 reads.
    pub(crate) fn decode(
        &self,
        coord: &[u64],
        stored: &[u8],
        mask: u32,
        needed: usize,
        room: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        memory::reserve(room, self.bytes.saturating_sub(room.len()))?;
        match self.pipeline.decode(&self.registry, stored, mask, self.bytes, room, scratch) {
            Err(hyperslab_filter::Error::Length { found, .. }) if found >= needed => {
                Ok(memory::resize(room, self.bytes, 0)?)
            }
            decoded => decoded.map(drop).map_err(|source| Error::Filter { chunk: coord.to_vec(), source }),
        }
    }

    /// Sends a chunk through the filters; the mask of those that were left out.
    pub(crate) fn encode(&self, coord: &[u64], raw: &[u8], out: &mut Vec<u8>, scratch: &mut Vec<u8>) -> Result<u32> {
        let encoded = self.pipeline.encode(&self.registry, raw, 0, out, scratch);
        encoded.map_err(|source| Error::Filter { chunk: coord.to_vec(), source })
    }
}
