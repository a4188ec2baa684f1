//! Values of variable length that are in their chunks, not in the heap of the file.

use std::borrow::Cow;

use hyperslab_base::{ErrorKind, memory};
use hyperslab_chunk::{CheckedChunk, ChunkPartition, ReadBuffer, StripReader, StripWriter, VlenParts, WriteBuffer};
use hyperslab_dtype::{Arena, Datatype, Nesting, Plan, Reference, Segments, Sequence, Source};
use hyperslab_format::message::{self, ChunkStructure};
use hyperslab_space::Space;

use super::{OpenDataset, change::filling, structure};
use crate::{Error, Heap, Result, Session, value_buffer::room};

impl OpenDataset {
    /// Whether its values name objects of the heap of the file.
    pub(crate) fn names_heap_objects(&self) -> bool {
        self.datatype().has_vlen() && !self.has_vlen_chunks()
    }

    /// Refuses to hand out values as they are stored, because that says nothing without their chunks.
    pub(super) fn check_whole_values(&self) -> Result<()> {
        if !self.has_vlen_chunks() {
            return Ok(());
        }
        let why =
            "what is of variable length in them is in its chunks, not in the heap of the file; read them converted";
        Err(Error::Change(format!("values of the dataset cannot be handled as they are stored: {why}")))
    }

    /// Refuses a chunk with values that readers cannot convert: what slots name are whole elements, also in sequences of sequences.
    pub(super) fn check_sequences(&self, chunk: &CheckedChunk) -> Result<()> {
        if !self.has_vlen_chunks() {
            return Ok(());
        }
        let datatype = self.memory_datatype()?;
        let plan = Plan::new(self.stored_datatype(), &datatype)?;
        for (stored, segments) in chunk.values() {
            let mut arena = Arena::default();
            let mut reads = VlenReads::new(self, &mut arena)?;
            memory::append(&mut reads.segments.bytes, segments)?;
            let mut values = room((stored.len() / plan.source_size().max(1)) as u64, datatype.size())?;
            reads.convert(&plan, stored, &mut values).map_err(|why| match why.kind() {
                ErrorKind::OutOfMemory => why,
                _ => chunk.refuse_vlen(why.to_string()).into(),
            })?;
        }
        Ok(())
    }

    /// Reads values as they are stored, one after the other, and what is of variable length in them.
    fn read_with_segments(&self, part: &Space, stored: &mut [u8], segments: &mut Vec<u8>) -> Result<()> {
        let Some(partition) = self.partition()? else { return Err(no_chunks()) };
        let (cache, options) = (&self.session().engine.partitions.cache, self.request_options());
        let (mem_selection, to) = (Space::simple(&[part.npoints()])?, ReadBuffer::with_heap(stored, segments));
        let read = cache.read(partition, options, part, &mem_selection, to, self.shown_fill());
        read.map_err(|why| self.locate(why.into()))?;
        self.session().check_current()
    }
}

/// One element of the fill value as chunks have it, and what is of variable length in their elements.
pub(crate) fn vlen_parts(
    session: &Session,
    layout: &message::Layout,
    datatype: &Datatype,
    fill: Option<&[u8]>,
) -> Result<(Option<Vec<u8>>, VlenParts)> {
    if !structure(layout).is_some_and(ChunkStructure::has_vlen) {
        return Ok((fill.map(<[u8]>::to_vec), VlenParts::default()));
    }
    let nesting = Nesting::of(datatype)?;
    let slots = nesting.slots().collect();
    let element = datatype.size() as u64;
    let Some(fill) = fill else { return Ok((None, VlenParts { element, slots, fill_heap: Vec::new() })) };
    let in_chunks = datatype.in_chunks()?;
    let (mut value, mut apart, mut segments) = (vec![0; in_chunks.size()], Segments::default(), Segments::default());
    Plan::new(datatype, &in_chunks)?.convert(1, fill, &mut value, &session.heap(), &mut apart)?;
    nesting.put_in_place(&mut value, &apart, &mut segments)?;
    Ok((Some(value), VlenParts { element, slots, fill_heap: segments.bytes }))
}

/// Reads of values that have what is of variable length in their chunks, strip by strip.
pub(super) struct VlenReads<'a> {
    dataset: &'a OpenDataset,
    nesting: Nesting,
    segments: Segments,
    /// Where what is of variable length goes.
    arena: &'a mut Arena,
}

impl<'a> VlenReads<'a> {
    pub(super) fn new(dataset: &'a OpenDataset, arena: &'a mut Arena) -> Result<VlenReads<'a>> {
        let nesting = Nesting::of(dataset.datatype())?;
        Ok(VlenReads { dataset, nesting, segments: Segments::default(), arena })
    }

    /// Converts values that were read elsewhere, whose slots name places of `segments`.
    pub(super) fn convert_with(&mut self, plan: &Plan, stored: &[u8], segments: &[u8], to: &mut [u8]) -> Result<()> {
        self.segments.bytes.clear();
        memory::append(&mut self.segments.bytes, segments)?;
        self.convert(plan, stored, to)
    }
}

impl StripReader for VlenReads<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.segments.bytes.clear();
        self.dataset.read_with_segments(part, stored, &mut self.segments.bytes)
    }

    fn convert(&mut self, plan: &Plan, stored: &[u8], to: &mut [u8]) -> Result<()> {
        let count = stored.len() / plan.source_size().max(1);
        self.arena.reserve(self.segments.bytes.len())?;
        if !self.nesting.is_deep() {
            return Ok(plan.convert(count, stored, to, &self.segments, self.arena)?);
        }
        let (mut stored, mut apart) = (stored.to_vec(), Segments::default());
        self.nesting.take_apart(&mut stored, &self.segments, &mut apart)?;
        Ok(plan.convert(count, &stored, to, &apart, self.arena)?)
    }
}

/// Writes of values that have what is of variable length in their chunks, strip by strip. The caller holds the range lock.
pub(super) struct VlenWrites<'a> {
    dataset: &'a OpenDataset,
    partition: &'a ChunkPartition,
    nesting: Nesting,
    /// What the values of the strip name.
    segments: Segments,
    /// Where what is of variable length comes from.
    sequences: &'a Arena,
}

impl<'a> VlenWrites<'a> {
    pub(super) fn new(
        dataset: &'a OpenDataset,
        partition: &'a ChunkPartition,
        sequences: &'a Arena,
    ) -> Result<VlenWrites<'a>> {
        let nesting = Nesting::of(dataset.datatype())?;
        Ok(VlenWrites { dataset, partition, nesting, segments: Segments::default(), sequences })
    }
}

impl StripWriter for VlenWrites<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        let mut found = Segments::default();
        self.dataset.read_with_segments(part, stored, &mut found.bytes)?;
        self.segments.bytes.clear();
        self.nesting.take_apart(stored, &found, &mut self.segments)?;
        Ok(())
    }

    fn convert(&mut self, plan: &Plan, from: &[u8], stored: &mut [u8]) -> Result<()> {
        if !plan.keeps_background() {
            self.segments.bytes.clear();
        }
        let given = Given { sequences: self.sequences, heap: self.dataset.session().heap() };
        plan.convert(from.len() / plan.source_size().max(1), from, stored, &given, &mut self.segments)?;
        if self.nesting.is_deep() {
            let apart = std::mem::take(&mut self.segments);
            self.nesting.put_in_place(stored, &apart, &mut self.segments)?;
        }
        Ok(())
    }

    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<()> {
        let (cache, mem_selection) =
            (&self.dataset.session().engine.partitions.cache, Space::simple(&[part.npoints()])?);
        let (from, filling) = (WriteBuffer::with_heap(stored, &self.segments.bytes), filling(self.dataset));
        let written = cache.write(self.partition, self.dataset.request_options(), part, &mem_selection, from, &filling);
        written.map_err(|why| self.dataset.locate(why.into()))
    }
}

/// What values of a caller name: sequences in memory, and references that are in the heap of the file.
struct Given<'a> {
    sequences: &'a Arena,
    heap: Heap<'a>,
}

impl Source for Given<'_> {
    fn sequence(&self, reference: &[u8], size: usize) -> hyperslab_dtype::Result<Option<Sequence<'_>>> {
        self.sequences.sequence(reference, size)
    }

    fn reference(&self, kind: Reference, stored: &[u8]) -> hyperslab_dtype::Result<Option<Cow<'_, [u8]>>> {
        self.heap.reference(kind, stored)
    }

    fn most(&self) -> u64 {
        self.sequences.most()
    }
}

fn no_chunks() -> Error {
    Error::Change("the dataset is not stored in chunks".into())
}
