//! Values of variable length that were encoded on several cores, before they have a place in the heap.

use hyperslab_dtype::Target;
use hyperslab_structures::Pile;

use crate::{HeapWriter, Result, heap_writer::store};

/// Fills a pile. References say which collection of the pile they mean, counted from one on, until it has an address.
pub struct PileWriter(pub Pile);

impl Target for PileWriter {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> hyperslab_dtype::Result<()> {
        store(sequence, reference, |bytes| {
            let (nth, index) = self.0.add(bytes)?;
            Ok((nth as u64 + 1, index))
        })
    }

    fn keeps_empty(&self) -> bool {
        false
    }
}

/// Values as they are stored, and collections of the heap that have no place yet.
pub struct Piled {
    bytes: Vec<u8>,
    size: usize,
    /// How many values each pile is of.
    together: usize,
    piles: Vec<Pile>,
}

impl Piled {
    /// Values of `size` bytes that refer into `piles`, each of which is of so many of them.
    pub fn new(bytes: Vec<u8>, size: usize, together: usize, piles: Vec<Pile>) -> Piled {
        Piled { bytes, size, together, piles }
    }

    /// Gives the collections their places; the values, which may then be written.
    pub(crate) fn commit(self, heap: &mut HeapWriter<'_>) -> Result<Vec<u8>> {
        let Piled { mut bytes, size, together, piles } = self;
        heap.adopt(piles, &mut bytes, size, together * size)?;
        heap.commit()?;
        Ok(bytes)
    }
}
