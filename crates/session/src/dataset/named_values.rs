//! Values that name objects, on their way through the cache: what they name is in the file before they are.
//!
//! ```text
//!  range lock of the selection
//!   operation    objects into the heap, which is written and published; noted as being written
//!   no lock      the values that are there: what they name is about to be replaced
//!   cache        the new values; they are written back like all others
//!   no lock      what is replaced is noted, and removed when chunks were written (`replaced.rs`)
//! ```

use std::collections::HashSet;

use hyperslab_chunk::{ChunkPartition, StripWriter, WriteBuffer};
use hyperslab_dtype::{Arena, Plan};
use hyperslab_file::Writing;
use hyperslab_space::{Kind, Space};

use super::OpenDataset;
use crate::{
    Error, HeapWriter, Result,
    heap_object_run::HeapObjectRun,
    heap_objects::{HeapObjectId, each_once},
    pending_objects::WriteTicket,
    value_buffer::room,
};

/// A write of values that name objects of the heap, strip by strip. The caller holds its range lock.
pub(super) struct NamedValues<'a> {
    pub(super) dataset: &'a OpenDataset,
    pub(super) partition: &'a ChunkPartition,
    pub(super) writing: &'a Writing<'a>,
    /// Where what is of variable length comes from.
    pub(super) sequences: &'a Arena,
    /// Whether some of what values name stays as it is.
    pub(super) keeps_background: bool,
    /// The objects of the strip that is converted.
    pub(super) ticket: Option<WriteTicket<'a>>,
}

impl StripWriter for NamedValues<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.dataset.read_part(part, &Space::simple(&[part.npoints()])?, stored, None)
    }

    fn convert(&mut self, plan: &Plan, from: &[u8], stored: &mut [u8]) -> Result<()> {
        let (count, sequences) = (from.len() / plan.source_size().max(1), self.sequences);
        let put = self.dataset.put_objects(self.writing, |heap| {
            plan.convert(count, from, stored, sequences, heap)?;
            heap.commit()
        });
        self.ticket = Some(put?.1);
        Ok(())
    }

    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<()> {
        let Some(ticket) = self.ticket.take() else { return Ok(()) };
        self.dataset.write_named(self.partition, (part, stored), ticket, self.keeps_background)
    }
}

impl OpenDataset {
    /// One operation: puts objects into the heap, and lets the file have and show them.
    pub(super) fn put_objects<T>(
        &self,
        writing: &Writing<'_>,
        put: impl FnOnce(&mut HeapWriter<'_>) -> Result<T>,
    ) -> Result<(T, WriteTicket<'_>)> {
        let session = self.session();
        session.operate_within(writing, || {
            session.check_alive(self.life())?;
            self.publish_objects()?;
            let mut heap = HeapWriter::new(session);
            let made = heap.attempt(|heap| {
                let made = put(heap)?;
                self.show(heap).map(|()| made)
            })?;
            Ok((made, session.engine.pending_objects.begin(self.address(), heap.take_put())))
        })
    }

    /// In an operation: what references refer to is in the file before values that the file names get to refer to it.
    pub(super) fn publish_objects(&self) -> Result<()> {
        let flushes = self.datatype().has_reference() && !self.stored().is_fresh(self.address());
        drop(hyperslab_file::Plan::flushing_if(self.stored(), flushes).begin()?);
        Ok(())
    }

    /// Writes stored values through the cache. Their objects are in the heap. The caller holds the range lock.
    pub(super) fn write_named(
        &self,
        partition: &ChunkPartition,
        (part, stored): (&Space, &[u8]),
        ticket: WriteTicket<'_>,
        keeps_background: bool,
    ) -> Result<()> {
        // What cannot be read stays in the heap.
        let mut old = self.objects_of(part).unwrap_or_default();
        if keeps_background {
            let _held = self.now();
            retain_others(&mut old, &self.session().heap_objects(self.datatype(), stored));
        }
        let mem_selection = Space::simple(&[part.npoints()])?;
        let written = self.write_part(partition, part, &mem_selection, WriteBuffer::stored(stored));
        match &written {
            // Of values that are written to one place, the last counts.
            Ok(()) if part.kind() == Kind::Points && part.npoints() > 1 => self.end_in_part(part, ticket, old),
            Ok(()) => ticket.end(HeapObjectRun::of(old)),
            // What a write in place has left is not known.
            Err(_) if self.values(&self.now()).is_ok_and(|values| values.is_overwritten()) => ticket.end(Vec::new()),
            Err(_) => self.end_in_part(part, ticket, old),
        }
        self.write_back_if_many(partition);
        written.map_err(|why| self.locate(why))
    }

    /// Finds out which of the objects of a write are named: those that are not go, and of the `old` ones those are replaced that are not named any more. If that cannot
    /// be found out, all stay in the heap.
    fn end_in_part(&self, part: &Space, ticket: WriteTicket<'_>, mut old: Vec<HeapObjectId>) {
        let Ok(now) = self.objects_of(part) else { return ticket.end(Vec::new()) };
        retain_others(&mut old, &now);
        let (session, named) = (self.session(), numbers(&now));
        // If the file cannot be changed any more, they stay.
        let _ = session.file().operate(|| -> Result<()> {
            let is_named = |object: &HeapObjectId| named.contains(&object.number());
            let unnamed = ticket.end_in_part(HeapObjectRun::of(old), is_named);
            HeapWriter::new(session).remove(unnamed);
            Ok(())
        });
    }

    /// What the values of a part name in the heap, as programs see them, each once; but for the fill value, which all name that were never written. The caller holds the
    /// range lock: it stays there meanwhile.
    fn objects_of(&self, part: &Space) -> Result<Vec<HeapObjectId>> {
        let count = part.npoints();
        let mut stored = room(count, self.datatype().size())?;
        self.read_part(part, &Space::simple(&[count])?, &mut stored, None)?;
        let _held = self.now();
        let mut found = self.session().heap_objects(self.datatype(), &stored);
        if !found.is_empty() {
            retain_others(&mut found, &self.objects_of_fill());
            each_once(&mut found);
        }
        Ok(found)
    }
}

/// Leaves the objects that are not among others.
pub(super) fn retain_others(objects: &mut Vec<HeapObjectId>, others: &[HeapObjectId]) {
    if !others.is_empty() {
        let others = numbers(others);
        objects.retain(|object| !others.contains(&object.number()));
    }
}

fn numbers(objects: &[HeapObjectId]) -> HashSet<(u64, u32)> {
    objects.iter().map(HeapObjectId::number).collect()
}
