//! A structured chunk from the file: its sections, and the elements that they tell of.

use std::{borrow::Cow, ops::Range};

use hyperslab_format::{Section, Sections};

use super::{
    packed_elements::PackedElements,
    packed_values::{BEFORE, ElementShape, PackedValues},
    section_coder::CHECKSUM,
    segment::{self, Segments},
    selection_section::{self, Defined},
    sparse_chunk::SparseChunk,
};
use crate::{
    ChunkLayout, EncodedChunk, Error, Result, Workspace, layout::StructuredLayout, transfer::scatter::outside,
};

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
        let stored = Stored { layout, structured: layout.sections()?, sections, encoded, first: 0 };
        let shape = layout.shape();
        let Some(runs) = stored.selection(workspace)? else {
            let values = stored.values(workspace)?;
            let mut segments = Segments::new(shape);
            segments.push(0..stored.count()?, values.values())?;
            return Ok(SparseChunk::of(PackedElements::of(segments, shape.clone())?, false));
        };
        let has_values = encoded.sections.len() > 1;
        let in_order = selection_section::is_rising(&runs);
        let mut segments = Segments::new(shape);
        if in_order {
            let values = if has_values { Some(stored.values(workspace)?) } else { None };
            segments.push_all(runs.iter().cloned(), values.as_ref().map(StoredValues::values))?;
        } else {
            let sorted = selection_section::sorted(&runs).map_err(|why| stored.not_understood(0, why))?;
            let values = if has_values { Some(stored.values(workspace)?) } else { None };
            for (number, nth) in sorted {
                let value = match &values {
                    Some(values) => values.values().part(nth, 1, shape).ok_or_else(outside)?,
                    None => PackedValues::default(),
                };
                segments.push(number..number + 1, value)?;
            }
        }
        let make = if has_values { PackedElements::of } else { PackedElements::without_values };
        Ok(SparseChunk::of(make(segments, shape.clone())?, in_order))
    }

    /// Takes what was missing, if another thread has not given it.
    pub(crate) fn complete(&mut self, rest: Rest) -> Result<()> {
        if !self.is_complete() {
            match rest {
                Rest::Values(values) => self.elements_mut().complete(values.values())?,
                Rest::All(chunk) => *self = chunk,
            }
        }
        Ok(())
    }
}

impl Rest {
    /// The memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Rest::Values(values) => {
                let bytes = segment::in_segments((values.fixed.len() + values.heap.len()) as u64);
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
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
        let stored = Stored { layout, structured: layout.sections()?, sections, encoded, first: 1 };
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
    fn selection(&self, workspace: &mut Workspace) -> Result<Option<Vec<Range<u32>>>> {
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
        let defined = selection_section::decode(self.layout.chunk(), &section, count);
        match defined.map_err(|why| self.not_understood(0, why))? {
            Defined::Runs(runs) if count.checked_mul(element) == Some(bytes) => Ok(Some(runs)),
            Defined::Runs(_) => Err(refuse(count)),
            Defined::Other(elements) => Err(refuse(elements)),
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
        if self.structured.vlen().is_some_and(|number| !self.is_left_out(number) && values.heap.len() < BEFORE as usize)
        {
            return Err(self.refuse(number + 1, "it does not say how much of it is unused".into()));
        }
        self.check_slots(values.values(), shape)?;
        Ok(values)
    }

    fn check_slots(&self, values: PackedValues<'_>, shape: &ElementShape) -> Result<()> {
        let named = values.heap_bytes(shape).map_err(|why| self.not_understood(self.structured.fixed(), why))?;
        if named > values.heap.len() as u64 {
            let why =
                format!("its values have {named} bytes of variable length, where there are {}", values.heap.len());
            return Err(self.refuse(self.structured.fixed(), why));
        }
        Ok(())
    }

    /// Whether a section after the first has no bytes, not even a checksum: some writers leave out those that are empty.
    fn is_left_out(&self, number: usize) -> bool {
        let is_empty = |section: Section| section.size == 0 && section.unfiltered.unwrap_or(0) == 0;
        number > 0 && self.sections.get(number).is_some_and(is_empty)
    }

    /// A section before its filters, without its checksum, of which it has at most so many bytes.
    fn section(&self, number: usize, most: u64, workspace: &mut Workspace) -> Result<Cow<'a, [u8]>> {
        if self.is_left_out(number) {
            return Ok(Cow::Borrowed(&[]));
        }
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

    /// A section whose content is not understood.
    fn not_understood(&self, number: usize, why: Error) -> Error {
        Error::of_section(&self.encoded.coord, number, why)
    }

    /// A section that is malformed.
    fn refuse(&self, number: usize, why: String) -> Error {
        Error::section(&self.encoded.coord, number, why)
    }
}
