//! Values that are written in one operation, with what they name in the heap.

use std::collections::HashSet;

use hyperslab_chunk::StripWriter;
use hyperslab_dtype::{Arena, Plan};
use hyperslab_space::Space;

use super::change::Change;
use crate::{Error, Result, heap_objects::HeapObjectId, heap_writer::HeapWriter};

/// Writes within an operation, which also changes the heap.
pub(super) struct AtOnce<'a, 'b> {
    change: &'a mut Change<'b>,
    heap: &'a mut HeapWriter<'b>,
    /// Where what is of variable length comes from.
    sequences: &'a Arena,
    /// What the values of the strip named before, if the write leaves some members of theirs as they are.
    background: HashSet<HeapObjectId>,
}

impl<'a, 'b> AtOnce<'a, 'b> {
    pub(super) fn new(change: &'a mut Change<'b>, heap: &'a mut HeapWriter<'b>, sequences: &'a Arena) -> Self {
        AtOnce { change, heap, sequences, background: HashSet::new() }
    }

    /// What the values that a strip replaces name in the heap, and the new ones do not: members that the write leaves as they are name it still.
    fn replaced(&mut self, part: &Space, stored: &[u8]) -> Vec<HeapObjectId> {
        let mut old = self.change.heap_objects(part);
        if !self.background.is_empty() {
            let dataset = self.change.dataset();
            let named: HashSet<_> = dataset.session().heap_objects(dataset.datatype(), stored).into_iter().collect();
            old.retain(|object| !named.contains(object));
        }
        old
    }

    /// Writes stored values from places of a buffer.
    pub(super) fn write_places(&mut self, part: &Space, mem_selection: &Space, buf: &[u8]) -> Result<()> {
        let dataset = self.change.dataset();
        self.change.write(part, mem_selection, buf).map_err(|why| dataset.locate(why))
    }
}

impl StripWriter for AtOnce<'_, '_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.change.read(part, &Space::simple(&[part.npoints()])?, stored)?;
        let dataset = self.change.dataset();
        self.background = dataset.session().heap_objects(dataset.datatype(), stored).into_iter().collect();
        Ok(())
    }

    fn convert(&mut self, plan: &Plan, from: &[u8], stored: &mut [u8]) -> Result<()> {
        let dataset = self.change.dataset();
        if !dataset.datatype().has_vlen() {
            return Ok(hyperslab_chunk::convert(plan, from, stored)?);
        }
        let (count, sequences) = (from.len() / plan.source_size().max(1), self.sequences);
        self.heap.attempt(|heap| {
            plan.convert(count, from, stored, sequences, heap)?;
            heap.commit()?;
            dataset.show(heap)
        })
    }

    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<()> {
        if self.change.dataset().datatype().has_vlen() {
            let old = self.replaced(part, stored);
            self.change.write_naming(self.heap, part, stored, &self.background)?;
            self.heap.remove(old);
        } else {
            self.write_places(part, &Space::simple(&[part.npoints()])?, stored)?;
        }
        // A strip is written: what comes next may fail without harm to it.
        self.change.save()?;
        self.change.dataset().stored().mark_whole();
        Ok(())
    }
}
