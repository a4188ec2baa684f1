//! When objects leave the heap that values in the chunk cache do not name any more: once the file does not name them either.

use hyperslab_file::OpenFile;
use hyperslab_object::Object;

use crate::{Result, Session, dataset::OpenDataset, engine::Engine, heap_object_run::HeapObjectRun, heap_writer};

impl Engine {
    /// Writes all chunks that only the cache has, as many as can be written, and removes what the values of their datasets replaced. The requests have the options of `file`.
    pub(crate) fn flush_chunks(&self, file: &OpenFile) -> Result<()> {
        let mark = self.pending_objects.mark();
        let written = self.partitions.cache.flush(file);
        let mut datasets = self.pending_objects.datasets();
        if written.is_err() {
            datasets.retain(|address| self.partitions.is_written(*address));
        }
        let removed = self.remove_replaced(mark, &datasets);
        written?;
        removed
    }

    /// Removes what values of these datasets replaced, up to a mark that is older than the moment at which the file had all of their chunks.
    pub(crate) fn remove_replaced(&self, mark: u64, datasets: &[u64]) -> Result<()> {
        if !self.pending_objects.forget_added(mark, datasets) {
            return Ok(());
        }
        let file = self.context.file();
        file.operate(|| {
            let replaced = self.pending_objects.take_replaced(mark, datasets);
            let objects = replaced.into_iter().flat_map(HeapObjectRun::objects);
            heap_writer::remove(file, &mut self.heap.lock(), objects);
            Ok(())
        })
    }
}

impl Session {
    /// Discards the chunks of datasets of which some cannot be written, and what these named in the heap: the file is about to be closed. What cannot be read
    /// stays in the heap.
    pub(crate) fn discard_pending(&self) {
        for address in self.engine.pending_objects.datasets() {
            let dataset = {
                let _held = self.file().reading();
                Object::open(self.context(), address)
                    .map_err(Into::into)
                    .and_then(|object| OpenDataset::open(self, object))
            };
            let _ = dataset.and_then(|dataset| dataset.discard());
        }
    }
}
