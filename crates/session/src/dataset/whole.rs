//! All values of an object at once: written when it is made, dropped when it is deleted.

use hyperslab_format::message::Layout;
use hyperslab_object::{Kind, Object};
use hyperslab_space::Space;

use super::OpenDataset;
use crate::{
    Error, Result, Session,
    heap_objects::{HeapObjectId, each_once},
    heap_writer::HeapWriter,
};

impl Session {
    /// Gives back what the values of an object that goes, and of its attributes, take outside of it. Only within an operation.
    pub fn drop_values(&self, object: &Object) -> hyperslab_file::Result<()> {
        let failed = |why: Error| match why {
            Error::File(why) => why,
            why => hyperslab_file::Error::Above(why.into()),
        };
        let context = self.context();
        if !context.shares_attributes()? {
            let attributes = object.attributes(context).unwrap_or_default();
            let named = attributes.iter().flatten().flat_map(|found| self.heap_objects(&found.datatype, &found.data));
            let named: Vec<_> = named.collect();
            HeapWriter::new(self).remove(named);
        }
        if object.kind() != Kind::Dataset {
            return Ok(());
        }
        self.engine.datasets.forget(object.address());
        // The values of a virtual dataset are others'; to open it would be to look for them. The list of them is its own.
        if let Layout::Virtual { heap, index } = object.layout(context)?.layout {
            HeapWriter::new(self).remove(heap.map(|address| HeapObjectId { address, index, length: 0 }));
            return Ok(());
        }
        let dataset = OpenDataset::open(self, object.clone()).map_err(failed)?;
        self.engine.datasets.forget(object.address());
        let mut change = dataset.change().map_err(failed)?;
        // What can fail comes first: what leaves the heap is the dataset's no more.
        change.values().map_err(failed)?;
        let mut named = change.all_heap_objects();
        named.extend(self.engine.pending_objects.take(object.address()));
        each_once(&mut named);
        HeapWriter::new(self).remove(named);
        self.engine.partitions.forget(object.address());
        let stored = self.file();
        match change.take_values() {
            Some(values) => values.delete(stored).map_err(|why| failed(why.into())),
            None => Ok(()),
        }
    }

    /// Writes all values of a new dataset, as they are stored. Only within an operation.
    pub fn write_stored(&self, address: u64, values: &[u8]) -> Result<()> {
        let dataset = OpenDataset::open(self, Object::open(self.context(), address)?)?;
        let mut change = dataset.change()?;
        let whole = Space::new(change.extent().clone());
        if whole.npoints() > 0 {
            change.write(&whole, &Space::simple(&[whole.npoints()])?, values)?;
        }
        change.save()
    }
}
