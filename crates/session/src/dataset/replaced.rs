//! What values named before they were changed in the cache: it leaves the heap when the file does not name it any more.

use hyperslab_chunk::ChunkPartition;
use hyperslab_space::Coords;

use super::{OpenDataset, named_values::retain_others};
use crate::{HeapWriter, Result, heap_objects::each_once, pending_objects::Waiting};

/// When more runs of objects wait for the chunks of a dataset, these are written.
const MANY: usize = 1 << 16;

impl OpenDataset {
    /// Writes all chunks of it that only the cache has, and removes what their values replaced.
    pub(super) fn write_back(&self, partition: &ChunkPartition) -> Result<()> {
        let engine = &self.session().engine;
        let mark = engine.pending_objects.mark();
        // Another dataset that gets its address begins after the mark.
        self.session().check_alive(self.life())?;
        engine.partitions.cache.flush_partition(partition)?;
        engine.remove_replaced(mark, &[self.address()])
    }

    /// Writes its chunks if what waits for that is worth it. Why some cannot be written is told by the next flush.
    pub(super) fn write_back_if_many(&self, partition: &ChunkPartition) {
        let pending = &self.session().engine.pending_objects;
        let Waiting { runs, bytes } = pending.waiting(self.address());
        let is_much = runs >= MANY || bytes > 0 && self.stored().is_worth_flush(bytes);
        if is_much && self.write_back(partition).is_err() {
            pending.postpone(self.address());
        }
    }

    /// Writes all chunks of it that only the cache has, and forgets all; of those that go, as `goes` says, also the ones that cannot be written. Only for a request that is
    /// alone with the dataset.
    pub(super) fn empty(&self, partition: &ChunkPartition, goes: &dyn Fn(&Coords) -> bool) -> Result<()> {
        let engine = &self.session().engine;
        let (cache, pending) = (&engine.partitions.cache, &engine.pending_objects);
        if !pending.has(self.address()) || self.write_back(partition).is_ok() {
            return Ok(cache.empty_partition(partition, goes)?);
        }
        cache.flush_but(partition, goes)?;
        self.hold_pending()?;
        if let Err(why) = cache.empty_partition(partition, goes) {
            pending.release(self.address());
            return Err(why.into());
        }
        self.remove_unnamed()
    }

    /// Forgets its chunks, also those that are not in the file. Only for a request that is alone with the dataset, if the file may be changed.
    pub(super) fn discard_chunks(&self, partition: &ChunkPartition) -> Result<()> {
        let engine = &self.session().engine;
        let is_pending = engine.pending_objects.has(self.address());
        if is_pending {
            self.hold_pending()?;
        }
        engine.partitions.cache.discard(partition, &|_| true);
        if is_pending { self.remove_unnamed() } else { Ok(()) }
    }

    /// One operation: nothing of what waits for its chunks is removed from now on.
    fn hold_pending(&self) -> Result<()> {
        let session = self.session();
        session.file().operate(|| {
            session.check_alive(self.life())?;
            session.engine.pending_objects.hold(self.address());
            Ok(())
        })
    }

    /// One operation: removes what waited for its chunks, but for what its values in the file name. The cache has none of them. If they cannot be read, all stays in
    /// the heap.
    fn remove_unnamed(&self) -> Result<()> {
        let session = self.session();
        session.file().operate(|| {
            let named = self.change()?.stored_heap_objects();
            let mut objects = session.engine.pending_objects.take(self.address());
            if let Ok(named) = named {
                retain_others(&mut objects, &named);
                each_once(&mut objects);
                HeapWriter::new(session).remove(objects);
            }
            Ok(())
        })
    }
}
