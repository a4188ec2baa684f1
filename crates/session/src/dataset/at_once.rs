//! Values that are written in one operation, with what they name in the heap.

use hyperslab_chunk::StripWriter;
use hyperslab_dtype::{Arena, Plan};
use hyperslab_space::Space;

use super::change::Change;
use crate::{Error, Result, heap_writer::HeapWriter};

/// Writes within an operation, which also changes the heap.
pub(super) struct AtOnce<'a, 'b> {
    pub(super) change: &'a mut Change<'b>,
    pub(super) heap: &'a mut HeapWriter<'b>,
    /// Where what is of variable length comes from.
    pub(super) sequences: &'a Arena,
}

impl AtOnce<'_, '_> {
    /// Writes stored values from places of a buffer.
    pub(super) fn write_places(&mut self, part: &Space, mem_selection: &Space, buf: &[u8]) -> Result<()> {
        let dataset = self.change.dataset();
        self.change.write(part, mem_selection, buf).map_err(|why| dataset.locate(why))
    }
}

impl StripWriter for AtOnce<'_, '_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.change.read(part, &Space::simple(&[part.npoints()])?, stored)
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
            self.change.replace_naming(self.heap, part, stored)?;
        } else {
            self.write_places(part, &Space::simple(&[part.npoints()])?, stored)?;
        }
        // A strip is written: what comes next may fail without harm to it.
        self.change.save()?;
        self.change.dataset().stored().mark_whole();
        Ok(())
    }
}
