//! The ways of values to the file: through the cache, or in one operation with what else it changes.

use hyperslab_chunk::ChunkPartition;
use hyperslab_space::Space;

use super::{OpenDataset, batch::boxes, change::Change};
use crate::{Result, behind::Behind, heap_writer::HeapWriter};

/// A way of stored values to the file.
pub(super) enum Way<'a, 'b> {
    /// They wait in the cache.
    Cached(&'a OpenDataset, &'a ChunkPartition),
    /// Within an operation, which also changes the heap.
    AtOnce(&'a mut Change<'b>, &'a mut HeapWriter<'b>),
}

impl Way<'_, '_> {
    pub(super) fn read(&mut self, part: &Space, places: &Space, buf: &mut [u8]) -> Result<()> {
        match self {
            Way::Cached(dataset, _) => dataset.read_part(part, places, buf),
            Way::AtOnce(change, _) => change.read(part, places, buf),
        }
    }

    pub(super) fn write(&mut self, part: &Space, places: &Space, buf: &[u8]) -> Result<()> {
        match self {
            Way::Cached(dataset, partition) => {
                dataset.write_part(partition, part, places, buf).map_err(|why| dataset.locate(why))
            }
            Way::AtOnce(change, _) => change.write(part, places, buf).map_err(|why| change.dataset().locate(why)),
        }
    }

    /// The boxes in which values of `size` bytes are converted.
    pub(super) fn boxes(&self, size: usize, selection: &Space) -> Option<Vec<u64>> {
        match self {
            Way::Cached(dataset, _) => dataset.inner.storage.with_state(|state| boxes(state, size, selection, false)),
            Way::AtOnce(change, _) => boxes(change.state(), size, selection, false),
        }
    }

    /// What the values of a part name in the heap. Those that wait in the cache name nothing.
    pub(super) fn behind(&mut self, part: &Space) -> Vec<Behind> {
        match self {
            Way::Cached(..) => Vec::new(),
            Way::AtOnce(change, _) => change.behind(part),
        }
    }

    /// A part is written: what comes next may fail without harm to it.
    pub(super) fn mark_whole(&mut self) -> Result<()> {
        if let Way::AtOnce(change, _) = self {
            change.save()?;
            change.dataset().stored().mark_whole();
        }
        Ok(())
    }

    /// Takes objects of the heap away that no value names any more.
    pub(super) fn remove(&mut self, objects: Vec<Behind>) {
        if let Way::AtOnce(_, heap) = self {
            heap.remove(objects);
        }
    }
}
