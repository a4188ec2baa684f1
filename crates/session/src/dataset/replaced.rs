//! What values named before they were changed in the cache: it leaves the heap when the file does not name it any more.

use hyperslab_chunk::{ChunkPartition, Withdrawn};
use hyperslab_space::Coords;

use super::{OpenDataset, named_values::retain_others};
use crate::{
    HeapWriter, Result,
    heap_objects::{HeapObjectId, each_once},
    pending_objects::Waiting,
};

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

    /// Writes all chunks of it that only the cache has, and forgets all; of those that go, as `goes` says, also the ones that cannot be written, when the request has
    /// [succeeded](Emptied::commit). Only for a request that is alone with the dataset.
    pub(super) fn empty(&self, partition: &ChunkPartition, goes: &dyn Fn(&Coords) -> bool) -> Result<Emptied<'_>> {
        let engine = &self.session().engine;
        let (cache, pending) = (&engine.partitions.cache, &engine.pending_objects);
        if !pending.has(self.address()) || self.write_back(partition).is_ok() {
            return Ok(Emptied { withdrawn: cache.empty_partition(partition, goes)?, held: None });
        }
        cache.flush_but(partition, goes)?;
        let mut held = self.hold_objects()?;
        let withdrawn = cache.empty_partition(partition, goes)?;
        held.find_named()?;
        Ok(Emptied { withdrawn, held: Some(held) })
    }

    /// Forgets its chunks, also those that are not in the file. Only for a request that is alone with the dataset, if the file may be changed.
    pub(super) fn discard_chunks(&self, partition: &ChunkPartition) -> Result<()> {
        let engine = &self.session().engine;
        let mut held = None;
        if engine.pending_objects.has(self.address()) {
            held = Some(self.hold_objects()?);
        }
        engine.partitions.cache.discard(partition, &|_| true);
        let Some(mut held) = held else { return Ok(()) };
        held.are_chunks_gone = true;
        held.find_named()?;
        held.remove_unnamed()
    }

    /// One operation: nothing of what waits for its chunks is removed as long as the result lives.
    fn hold_objects(&self) -> Result<HeldObjects<'_>> {
        let session = self.session();
        session.file().operate(|| {
            session.check_alive(self.life())?;
            session.engine.pending_objects.hold(self.address());
            Ok(HeldObjects { dataset: self, named: None, are_chunks_gone: false })
        })
    }
}

/// A dataset of which the cache has no chunks, but for those that a request takes away and that could not be written. If this is dropped before the request has
/// [succeeded](Emptied::commit), these are in the cache as before.
pub(super) struct Emptied<'a> {
    withdrawn: Withdrawn,
    /// What values of these chunks named, or replaced.
    held: Option<HeldObjects<'a>>,
}

impl Emptied<'_> {
    /// Of a dataset that loses no chunks.
    pub(super) fn none() -> Self {
        Emptied { withdrawn: Withdrawn::none(), held: None }
    }

    /// Within the operation that takes the chunks away: what only they named leaves the heap. What other values named is the caller's to remove.
    pub(super) fn remove_unnamed(&mut self) {
        if let Some(held) = self.held.take() {
            held.remove_now();
        }
    }

    /// The chunks are no longer part of the dataset, or others are in the file in their place: the cache forgets them, and what only they named leaves the heap.
    pub(super) fn commit(self) {
        self.withdrawn.commit();
        if let Some(held) = self.held {
            // If the file cannot be changed any more, the objects stay in the heap.
            let _ = held.remove_unnamed();
        }
    }
}

/// What waits for the chunks of a dataset, while some of them are about to be forgotten unwritten: nothing of it is removed meanwhile.
struct HeldObjects<'a> {
    dataset: &'a OpenDataset,
    /// What the values in the file name, found out when the cache has no chunk that might get there; none if they could not be read.
    named: Option<Vec<HeapObjectId>>,
    are_chunks_gone: bool,
}

impl HeldObjects<'_> {
    /// One operation: finds out what the values in the file name. The cache has none of them.
    fn find_named(&mut self) -> Result<()> {
        let dataset = self.dataset;
        self.named =
            dataset.session().file().operate(|| -> Result<_> { Ok(dataset.change()?.stored_heap_objects().ok()) })?;
        Ok(())
    }

    /// One operation: removes what waited, but for what the values in the file name. If they could not be read, all stays in the heap. The chunks are gone.
    fn remove_unnamed(mut self) -> Result<()> {
        self.are_chunks_gone = true;
        let file = self.dataset.session().file();
        file.operate(|| {
            self.remove_now();
            Ok(())
        })
    }

    /// As [`HeldObjects::remove_unnamed`], within an operation.
    fn remove_now(mut self) {
        self.are_chunks_gone = true;
        let session = self.dataset.session();
        let mut objects = session.engine.pending_objects.take(self.dataset.address());
        if let Some(named) = self.named.take() {
            retain_others(&mut objects, &named);
            each_once(&mut objects);
            HeapWriter::new(session).remove(objects);
        }
    }
}

impl Drop for HeldObjects<'_> {
    fn drop(&mut self) {
        let pending = &self.dataset.session().engine.pending_objects;
        match self.are_chunks_gone {
            // Nothing is left of it, unless that failed.
            true => pending.release(self.dataset.address()),
            false => pending.resume(self.dataset.address()),
        }
    }
}
