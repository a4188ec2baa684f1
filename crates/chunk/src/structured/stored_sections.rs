//! A structured chunk from the file and back: its sections, and the elements that they tell of.

use std::{borrow::Cow, ops::Range};

use hyperslab_base::{lookup3, memory};
use hyperslab_format::Sections;
use hyperslab_space::{Piece, Space};

use super::{
    packed_elements::PackedElements,
    packed_values::{BEFORE, ElementShape, PackedValues},
    section_coder::{CHECKSUM, SectionCoder},
    segment::Segments,
    selection_section,
    sparse_chunk::{SparseChunk, heap_bytes, numbers},
};
use crate::{
    ChunkCoord, ChunkLayout, EncodedChunk, Error, Result, StoredAs, Workspace, WriteBuffer, layout::StructuredLayout,
    transfer::scatter::outside,
};

/// About the memory that section 0 takes for a run of elements while it is encoded, and for each dimension of it.
const RUN: u64 = 64;
const NUMBERS: u64 = 24;

/// What was missing of a chunk that was loaded in part.
pub enum Rest {
    /// The values, by rising number of their elements.
    Values(StoredValues<'static>),
    /// All of it, because the file has the values in another order.
    All(SparseChunk),
}

/// The values of a chunk, in the order of its selection.
pub struct StoredValues<'a> {
    fixed: Cow<'a, [u8]>,
    /// What is of variable length, with what comes before it in the file.
    heap: Cow<'a, [u8]>,
}

/// A structured chunk that is decoded: what it is like, what its index says, and which of its sections were read, from which number on.
struct Stored<'a> {
    layout: &'a ChunkLayout,
    structured: &'a StructuredLayout,
    sections: &'a Sections,
    encoded: &'a EncodedChunk<'a>,
    first: usize,
}

impl SparseChunk {
    /// What the sections stand for of which the index knows this. If only section 0 was read, the chunk has no values.
    pub(crate) fn decode(
        layout: &ChunkLayout,
        sections: &Sections,
        encoded: &EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<SparseChunk> {
        let stored = Stored { layout, structured: structured(layout)?, sections, encoded, first: 0 };
        let shape = layout.shape();
        let Some(space) = stored.selection(workspace)? else {
            let values = stored.values(workspace)?;
            let mut segments = Segments::new(shape);
            segments.push(0..stored.count()?, values.values())?;
            return Ok(SparseChunk::of(PackedElements::of(segments, shape.clone())?, false));
        };
        let mut segments = Segments::new(shape);
        let in_order = selection_section::is_rising(&space)?;
        let refuse = |why: Error| stored.refuse(0, why.to_string());
        let sorted = if in_order { Vec::new() } else { selection_section::sorted(&space).map_err(refuse)? };
        if encoded.sections.len() == 1 {
            match in_order {
                true => selection_section::runs(&space)?.try_for_each(|run| segments.push_without_values(run))?,
                false => sorted.iter().try_for_each(|(number, _)| segments.push_without_values(*number..number + 1))?,
            }
            return Ok(SparseChunk::of(PackedElements::without_values(segments, shape.clone())?, in_order));
        }
        let values = stored.values(workspace)?;
        let mut rest = values.values();
        for (number, nth) in sorted {
            segments.push(number..number + 1, rest.part(nth, 1, shape).ok_or_else(outside)?)?;
        }
        if in_order {
            for run in selection_section::runs(&space)? {
                let (now, later) = rest.split_at(run.len(), shape).ok_or_else(outside)?;
                segments.push(run, now)?;
                rest = later;
            }
        }
        Ok(SparseChunk::of(PackedElements::of(segments, shape.clone())?, in_order))
    }

    /// The chunk as the file will have it: nowhere, if no element is defined.
    pub(crate) fn encode(
        &self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'static>> {
        let (structured, filtered) = (structured(layout)?, form == StoredAs::Filtered);
        if self.is_empty() {
            return Ok(EncodedChunk::nowhere(coord.clone(), structured.nothing(), filtered));
        }
        let (mut stored, mut sections) = (Vec::new(), Vec::new());
        let mut add = |number: usize, raw: &[u8], stored: &mut Vec<u8>| {
            let coder = structured.coder(number, true).ok_or_else(outside)?;
            coder.encode(coord, raw, (filtered, structured.filters()), stored, workspace)
        };
        if structured.structure().is_sparse() {
            let tries = filtered && structured.coder(0, true).is_some_and(SectionCoder::filters);
            let (mut best, mut room): (Option<_>, Vec<u8>) = (None, Vec::new());
            for raw in selection_section::encode(layout.chunk(), self.elements().runs(), tries)? {
                room.clear();
                let section = add(0, &raw, &mut room)?;
                if best.as_ref().is_none_or(|(_, bytes): &(_, Vec<u8>)| room.len() < bytes.len()) {
                    best = Some((section, std::mem::take(&mut room)));
                }
            }
            let (section, bytes) = best.ok_or_else(outside)?;
            sections.push(section);
            stored = bytes;
        }
        let (fixed, heap) = self.packed(layout)?;
        // What is done is dropped before the next section.
        for (number, mut raw) in [(Some(structured.fixed()), fixed), (structured.vlen(), heap)] {
            let Some(number) = number else { continue };
            if structured.has_checksum(number) {
                let checksum = lookup3(&raw);
                memory::append(&mut raw, &checksum.to_le_bytes())?;
            }
            sections.push(add(number, &raw, &mut stored)?);
        }
        stored.shrink_to_fit();
        let sections = Sections::new(&sections).ok_or_else(outside)?;
        EncodedChunk::structured(coord.clone(), stored.into(), sections, filtered).ok_or_else(outside)
    }

    /// The bytes of the values that the file has: of the defined elements, or of all.
    fn stored_bytes(&self, layout: &ChunkLayout) -> Result<u64> {
        match structured(layout)?.structure().is_sparse() {
            true => Ok(self.count().saturating_mul(layout.element())),
            false => Ok(layout.dense_bytes() as u64),
        }
    }

    /// The bytes of what is of variable length in these values.
    fn stored_heap(&self, layout: &ChunkLayout) -> Result<u64> {
        let structured = structured(layout)?;
        let undefined =
            if structured.structure().is_sparse() { 0 } else { layout.elements().saturating_sub(self.count()) };
        let fill = (structured.fill().heap.len() as u64).saturating_mul(undefined);
        Ok(self.elements().heap_bytes().saturating_add(fill))
    }

    /// About the memory that encoding takes at its peak, beside the chunk.
    pub(crate) fn encoding_memory(&self, layout: &ChunkLayout) -> Result<u64> {
        let structured = structured(layout)?;
        let values = self.stored_bytes(layout)?.saturating_add(self.stored_heap(layout)?);
        // Beside the stored bytes, what goes into a filter and what comes out of it.
        let copies = if structured.filters() { 4 } else { 2 };
        let rank = layout.chunk().len() as u64;
        let selection = if structured.structure().is_sparse() { RUN + NUMBERS * rank } else { 0 };
        Ok(values.saturating_mul(copies).saturating_add(self.run_count().saturating_mul(selection)))
    }

    /// Refuses values for which the index of the dataset has no room, before the chunk changes: what filters make of them is known later, so they are expected to make it no
    /// smaller, and no larger than any filter that is known does.
    pub(super) fn check_room(&self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        let (structured, shape) = (structured(layout)?, layout.shape());
        let Some(most) = structured.most_bytes() else { return Ok(()) };
        let fill = structured.fill().heap.len() as u64;
        let around = layout.dense_bytes() as u64 + BEFORE + 2 * CHECKSUM as u64;
        let (now, new) = (self.elements().heap_bytes(), heap_bytes(layout, piece, from)?);
        let bytes = |old: u64, undefined: u64| {
            let heap = now.saturating_sub(old).saturating_add(new).saturating_add(fill.saturating_mul(undefined));
            around.saturating_add(heap)
        };
        let undefined = layout.elements().saturating_sub(self.count());
        if bytes(0, undefined) <= most {
            return Ok(());
        }
        // Points may name an element again and again.
        let mut runs: Vec<Range<u32>> =
            piece.file.runs(1)?.map(|run| numbers(run.offset, run.len)).collect::<Result<_>>()?;
        runs.sort_unstable_by_key(|run| run.start);
        let (mut old, mut defined, mut selected, mut end) = (0, 0, 0, 0);
        for run in runs {
            let run = run.start.max(end)..run.end;
            if run.is_empty() {
                continue;
            }
            end = run.end;
            selected += run.len() as u64;
            self.elements().visit(run, &mut |run, values| {
                (old, defined) = (old + values.heap_bytes(shape)?, defined + run.len() as u64);
                Ok(())
            })?;
        }
        match bytes(old, undefined.saturating_sub(selected - defined)) {
            bytes if bytes <= most => Ok(()),
            bytes => Err(Error::Layout(format!(
                "chunk {:?} would have {bytes} bytes with what is of variable length in its values, and its index has room for {most}: larger chunks and sparse ones have more room",
                piece.chunk.to_vec()
            ))),
        }
    }

    /// The values as the file has them: of the defined elements, or of all, and what is of variable length in them, with how much of it is unused.
    fn packed(&self, layout: &ChunkLayout) -> Result<(Vec<u8>, Vec<u8>)> {
        let (structured, shape) = (structured(layout)?, layout.shape());
        let around = BEFORE as usize + CHECKSUM;
        let (room, heap_room) = (usize::try_from(self.stored_bytes(layout)?), self.stored_heap(layout)?);
        let mut fixed = memory::with_room(room.unwrap_or(usize::MAX).saturating_add(CHECKSUM))?;
        let mut heap = memory::with_room(usize::try_from(heap_room).unwrap_or(usize::MAX).saturating_add(around))?;
        if structured.structure().is_sparse() {
            self.elements().values().try_for_each(|values| values.append_to(shape, &mut fixed, &mut heap))?;
        } else {
            let all = u32::try_from(layout.elements()).map_err(|_| outside())?;
            memory::resize(&mut fixed, layout.dense_bytes(), 0)?;
            self.copy(0..all, &mut fixed, Some(&mut heap), layout)?;
        }
        if structured.vlen().is_some() {
            heap.splice(0..0, [0; BEFORE as usize]);
        }
        Ok((fixed, heap))
    }
}

impl Rest {
    /// The memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Rest::Values(values) => values.fixed.len() + values.heap.len(),
            Rest::All(chunk) => chunk.memory(),
        }
    }

    /// What sections stand for that were missing: those after section 0, or all.
    pub(crate) fn decode(
        layout: &ChunkLayout,
        sections: &Sections,
        encoded: &EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<Rest> {
        if encoded.sections.len() == sections.len() {
            return SparseChunk::decode(layout, sections, encoded, workspace).map(Rest::All);
        }
        let stored = Stored { layout, structured: structured(layout)?, sections, encoded, first: 1 };
        let StoredValues { fixed, heap } = stored.values(workspace)?;
        Ok(Rest::Values(StoredValues { fixed: fixed.into_owned().into(), heap: heap.into_owned().into() }))
    }
}

impl StoredValues<'_> {
    pub(super) fn values(&self) -> PackedValues<'_> {
        PackedValues { fixed: &self.fixed, heap: self.heap.get(BEFORE as usize..).unwrap_or_default() }
    }
}

impl<'a> Stored<'a> {
    /// The elements that have values.
    fn count(&self) -> Result<u32> {
        let count = self.structured.stored_elements(self.sections, self.layout.element());
        u32::try_from(count).map_err(|_| outside())
    }

    /// The defined elements, as many as there are values; nothing if all are.
    fn selection(&self, workspace: &mut Workspace) -> Result<Option<Space>> {
        let (fixed, element, all) = (self.structured.fixed(), self.layout.element(), self.layout.elements());
        let count = self.structured.stored_elements(self.sections, element);
        let bytes = self.structured.stored_bytes(self.sections, fixed);
        let refuse = |elements: u64| {
            let why = format!("{bytes} bytes for {elements} elements of {element} bytes");
            self.refuse(fixed, why)
        };
        if !self.structured.structure().is_sparse() {
            return if all.checked_mul(element) == Some(bytes) { Ok(None) } else { Err(refuse(all)) };
        }
        if count > all {
            return Err(self.refuse(fixed, format!("{bytes} bytes, where the chunk has {all} elements")));
        }
        // Values may come later, or never: the memory for so many elements is taken now.
        let values = self.structured.coder(fixed, self.encoded.filtered).zip(self.sections.get(fixed));
        let (coder, stored) = values.ok_or_else(outside)?;
        coder.check_size(&self.encoded.coord, stored)?;
        let section = self.section(0, selection_section::most_bytes(count, self.layout.chunk().len()), workspace)?;
        let space = selection_section::decode(self.layout.chunk(), &section).map_err(|why| self.refuse(0, why))?;
        match space.npoints().checked_mul(element) == Some(bytes) {
            true => Ok(Some(space)),
            false => Err(refuse(space.npoints())),
        }
    }

    /// The values, in the order of the selection. Slots name segments that there are, and no more bytes together than there are.
    fn values(&self, workspace: &mut Workspace) -> Result<StoredValues<'a>> {
        let (number, shape) = (self.structured.fixed(), self.layout.shape());
        let most = self.layout.elements().saturating_mul(self.layout.element());
        let fixed = self.section(number, most, workspace)?;
        let heap = match self.structured.vlen() {
            Some(number) => self.section(number, u64::MAX, workspace)?,
            None => Cow::Borrowed(&[][..]),
        };
        let values = StoredValues { fixed, heap };
        if self.structured.vlen().is_some_and(|_| values.heap.len() < BEFORE as usize) {
            return Err(self.refuse(number + 1, "it does not say how much of it is unused".into()));
        }
        self.check_slots(values.values(), shape)?;
        Ok(values)
    }

    fn check_slots(&self, values: PackedValues<'_>, shape: &ElementShape) -> Result<()> {
        let named = values.heap_bytes(shape).map_err(|why| self.refuse(self.structured.fixed(), why.to_string()))?;
        if named > values.heap.len() as u64 {
            let why =
                format!("its values have {named} bytes of variable length, where there are {}", values.heap.len());
            return Err(self.refuse(self.structured.fixed(), why));
        }
        Ok(())
    }

    /// A section before its filters, without its checksum, of which it has at most so many bytes.
    fn section(&self, number: usize, most: u64, workspace: &mut Workspace) -> Result<Cow<'a, [u8]>> {
        let coder = self.structured.coder(number, self.encoded.filtered).ok_or_else(outside)?;
        let bytes = number.checked_sub(self.first).and_then(|nth| self.encoded.section(nth));
        let stored = bytes.zip(self.sections.get(number)).ok_or_else(outside)?;
        let checksum = if self.structured.has_checksum(number) { CHECKSUM } else { 0 };
        let most = most.saturating_add(checksum as u64);
        let decoded = coder.decode(&self.encoded.coord, stored, most, workspace)?;
        if checksum == 0 {
            return Ok(decoded);
        }
        let checked = coder.checked(&self.encoded.coord, &decoded)?.len();
        Ok(match decoded {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(..checked).unwrap_or(bytes)),
            Cow::Owned(mut bytes) => {
                bytes.truncate(checked);
                Cow::Owned(bytes)
            }
        })
    }

    /// A section that is malformed.
    fn refuse(&self, number: usize, why: String) -> Error {
        Error::Section { chunk: self.encoded.coord.to_vec(), section: number, why }
    }
}

/// What chunks have beside a shape.
pub(super) fn structured(layout: &ChunkLayout) -> Result<&StructuredLayout> {
    layout.structured().ok_or_else(|| Error::Layout("chunks without sections".into()))
}
