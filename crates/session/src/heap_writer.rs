//! Where variable-length values go when they are written.

use hyperslab_driver::cores;
use hyperslab_dtype::{HeapReference, Target};
use hyperslab_file::OpenFile;
use hyperslab_structures::{GlobalHeap, Pile};
use parking_lot::MutexGuard;

use crate::{Result, Session, heap_object_run::HeapObjectRun, heap_objects::HeapObjectId};

/// The global heap of a file that is being changed, within one operation.
pub struct HeapWriter<'a> {
    session: &'a Session,
    heap: MutexGuard<'a, GlobalHeap>,
    /// What was put there and not [taken](Self::take_put).
    put: Vec<HeapObjectRun>,
}

impl<'a> HeapWriter<'a> {
    /// Of a file. Only within an operation: other writers wait until this is dropped.
    pub fn new(session: &'a Session) -> HeapWriter<'a> {
        HeapWriter { session, heap: session.engine.heap.lock(), put: Vec::new() }
    }

    /// Lets `put` put objects into the heap and [commit](Self::commit) it: nothing else may, so that the heap is as it was before if that fails. What it puts
    /// there is removed again if nothing gets to name it: so the operation may fail afterwards without poison, if it changes nothing more.
    pub fn attempt<T>(&mut self, put: impl FnOnce(&mut HeapWriter<'a>) -> Result<T>) -> Result<T> {
        let file = self.session.file();
        let done = file.tentative(|| put(self));
        match &done {
            Ok(_) => self.heap.keep(),
            Err(_) => {
                self.heap.undo(file);
                self.put.clear();
            }
        }
        done
    }

    /// The objects that were put there since this was made, or asked for this.
    pub(crate) fn take_put(&mut self) -> Vec<HeapObjectRun> {
        std::mem::take(&mut self.put)
    }

    /// Keeps bytes; the address of the collection, and the index there.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(u64, u32)> {
        let (address, index) = self.heap.add(self.session.file(), bytes)?;
        HeapObjectRun::push(&mut self.put, HeapObjectId { address, index, length: bytes.len() as u64 });
        Ok((address, index))
    }

    /// Takes objects away that no value names any more, or none will when this operation is over.
    pub fn remove(&mut self, objects: impl IntoIterator<Item = HeapObjectId>) {
        remove(self.session.file(), &mut self.heap, objects);
    }

    /// Gives what is in piles a place. The references to it, in blocks of so many bytes for each pile, name that from now on.
    pub(crate) fn adopt(&mut self, piles: Vec<Pile>, references: &mut [u8], size: usize, block: usize) -> Result<()> {
        let file = self.session.file();
        let mut addresses = Vec::with_capacity(piles.len());
        for pile in piles {
            let counts: Vec<u32> = pile.counts().collect();
            let of_pile = self.heap.adopt(file, pile)?;
            let runs = of_pile.iter().zip(counts).map(|(address, count)| HeapObjectRun::collection(*address, count));
            self.put.extend(runs);
            addresses.push(of_pile);
        }
        let blocks = references.chunks_mut(block.max(1)).zip(addresses).collect();
        let named = cores::map(blocks, |_: &mut (), (references, addresses): (&mut [u8], Vec<u64>)| {
            references.chunks_exact_mut(size.max(1)).try_for_each(|reference| name(reference, &addresses))
        });
        Ok(named.map(drop)?)
    }

    /// To be called before anything names what was put.
    pub fn commit(&mut self) -> Result<()> {
        Ok(self.heap.commit(self.session.file())?)
    }

    /// To be called before values that the file names already get to name what was put: the file reaches so far then.
    pub(crate) fn show(&mut self) -> Result<()> {
        Ok(self.heap.show(self.session.file())?)
    }
}

impl Target for HeapWriter<'_> {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> hyperslab_dtype::Result<()> {
        store(sequence, reference, |bytes| self.put(bytes))
    }

    fn keeps_empty(&self) -> bool {
        false
    }
}

/// Takes objects out of the heap of a file, within an operation, as [`HeapWriter::remove`] does.
pub(crate) fn remove(file: &OpenFile, heap: &mut GlobalHeap, objects: impl IntoIterator<Item = HeapObjectId>) {
    let waits = |object: &HeapObjectId| heap.remove(file, object.address, object.index);
    let lengths = objects.into_iter().filter(waits).map(|object| object.length);
    file.await_space(lengths.fold(0, u64::saturating_add));
}

/// Keeps a sequence as `put` does, and names it.
pub(crate) fn store(
    sequence: Option<(usize, &[u8])>,
    reference: &mut [u8],
    put: impl FnOnce(&[u8]) -> Result<(u64, u32)>,
) -> hyperslab_dtype::Result<()> {
    let Some((count, bytes)) = sequence else {
        return HeapReference::NULL.encode(reference);
    };
    let large = |_| hyperslab_dtype::Error::Sequence(format!("{count} elements are more than a file can count"));
    let count = u32::try_from(count).map_err(large)?;
    let (address, index) = put(bytes).map_err(|why| hyperslab_dtype::Error::Heap(why.into()))?;
    HeapReference { count, address, index }.encode(reference)
}

/// Makes a reference into a pile one into the file.
#[inline]
fn name(reference: &mut [u8], addresses: &[u64]) -> hyperslab_dtype::Result<()> {
    let found = HeapReference::decode(reference)?;
    let nth = found.address.checked_sub(1).and_then(|nth| usize::try_from(nth).ok());
    if let Some(&address) = nth.and_then(|nth| addresses.get(nth)) {
        HeapReference { address, ..found }.encode(reference)?;
    }
    Ok(())
}
