//! Where variable-length values go when they are written.

use hyperslab_dtype::{HeapReference, Target};
use hyperslab_structures::GlobalHeap;
use parking_lot::MutexGuard;

use crate::{File, Result};

/// The global heap of a file that is being changed, within one operation.
pub(crate) struct HeapWriter<'a> {
    file: &'a File,
    heap: MutexGuard<'a, GlobalHeap>,
}

impl<'a> HeapWriter<'a> {
    pub(crate) fn new(file: &'a File) -> HeapWriter<'a> {
        HeapWriter { file, heap: file.inner.heap.lock() }
    }

    /// Keeps bytes; the address of the collection, and the index there.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(u64, u32)> {
        Ok(self.heap.add(self.file.inner.context.file(), bytes)?)
    }

    /// Takes objects away that no value names any more, or none will when this operation is over.
    pub(crate) fn remove(&mut self, objects: impl IntoIterator<Item = (u64, u32)>) {
        let file = self.file.inner.context.file();
        objects.into_iter().for_each(|(address, index)| self.heap.remove(file, address, index));
    }

    /// To be called before anything names what was put.
    pub(crate) fn settle(&mut self) -> Result<()> {
        Ok(self.heap.settle(self.file.inner.context.file())?)
    }
}

impl Target for HeapWriter<'_> {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> hyperslab_dtype::Result<()> {
        let Some((count, bytes)) = sequence else {
            return HeapReference::NULL.encode(reference);
        };
        let large = |_| hyperslab_dtype::Error::Sequence(format!("{count} elements are more than a file can count"));
        let count = u32::try_from(count).map_err(large)?;
        let (address, index) = self.put(bytes).map_err(|why| hyperslab_dtype::Error::Heap(Box::new(why)))?;
        HeapReference { count, address, index }.encode(reference)
    }
}
