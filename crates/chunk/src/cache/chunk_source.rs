//! A dataset as the cache sees it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::Partition;
use hyperslab_file::OpenFile;

use super::{AccessPattern, GatheredWrites, ReuseCounter};
use crate::{ChunkCoord, ChunkLayout, DatasetStorage, ResidentChunk, Result, StoredAs, Workspace};

/// The chunks of a dataset in the cache. Cheap to clone.
pub type ChunkPartition = Partition<ResidentChunk>;

/// A dataset as the cache sees it: where its chunks come from and go to. It lives as long as its chunks do, with or without a handle of the
/// dataset.
pub struct ChunkSource {
    storage: Arc<DatasetStorage>,
    layout: Arc<ChunkLayout>,
    /// What was used of chunks that are addressable in place.
    pub(super) reuse: ReuseCounter,
    /// Addressable chunks that wait for each other.
    pub(super) gathered: GatheredWrites,
    /// Where reads of other chunks went.
    pub(super) pattern: AccessPattern,
    /// Whether a chunk went through the filters already, so that others will, too, when they are written later.
    proven: AtomicBool,
}

impl ChunkSource {
    /// A dataset whose chunks are so.
    pub fn new(storage: Arc<DatasetStorage>, layout: Arc<ChunkLayout>) -> ChunkSource {
        let (reuse, gathered, pattern, proven) = Default::default();
        ChunkSource { storage, layout, reuse, gathered, pattern, proven }
    }

    /// The state of the dataset.
    pub(super) fn storage(&self) -> &DatasetStorage {
        &self.storage
    }

    /// The file that the dataset is in.
    pub(super) fn file(&self) -> &OpenFile {
        self.storage.file()
    }

    /// What the chunks are like.
    pub fn layout(&self) -> &ChunkLayout {
        &self.layout
    }

    /// Refuses chunks that cannot be written, before they wait in the cache for that: the first one goes through the filters at once.
    pub(super) fn prove(&self, coord: &ChunkCoord, chunk: &ResidentChunk) -> Result<()> {
        if self.layout.filters() && !self.proven.load(Ordering::Relaxed) {
            let encoded = chunk.encode(&self.layout, coord, StoredAs::Filtered, &mut Workspace::default())?;
            self.proven.store(!encoded.is_nowhere(), Ordering::Relaxed);
        }
        Ok(())
    }
}
