//! A sparse chunk in memory: its defined elements, after the filters were undone.

use std::ops::Range;

use hyperslab_format::Sections;
use hyperslab_space::{Moves, Piece, Space};

use super::{
    converted_reads::ConvertedReads,
    located_values::for_each_part,
    packed_elements::PackedElements,
    packed_values::{ElementShape, OwnValues, PackedValues},
    segment,
};
use crate::{
    ChunkLayout, Error, ReadBuffer, Result, WriteBuffer,
    layout::{Part, StructuredLayout},
    transfer::scatter::outside,
};

/// The bytes of new elements that need no exact account before they come.
const FEW: u64 = 16 << 10;

/// A sparse chunk in memory.
#[derive(Debug)]
pub struct SparseChunk {
    elements: PackedElements,
    /// Whether the file has the values by rising number of their elements, after a selection, so that they can be loaded without it.
    in_order: bool,
}

impl SparseChunk {
    /// A chunk without defined elements.
    pub(crate) fn new(layout: &ChunkLayout) -> SparseChunk {
        SparseChunk::of(PackedElements::new(layout.shape().clone()), layout.has_selections())
    }

    /// Elements that were stored. Their values were by rising number, or they were not.
    pub(super) fn of(elements: PackedElements, in_order: bool) -> SparseChunk {
        SparseChunk { elements, in_order }
    }

    pub(super) fn elements(&self) -> &PackedElements {
        &self.elements
    }

    /// Whether the values are in memory.
    pub(crate) fn is_complete(&self) -> bool {
        self.elements.has_values()
    }

    /// The first of its stored sections that it lacks, if it is not complete.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        (!self.is_complete()).then_some(usize::from(self.in_order))
    }

    /// Gives back the memory of the values, which are in the file.
    pub(crate) fn shed(&mut self) {
        self.elements.shed();
    }

    pub(super) fn elements_mut(&mut self) -> &mut PackedElements {
        &mut self.elements
    }

    /// Defines elements, with values of the caller, or erases them.
    pub(crate) fn gather(&mut self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        if from.erases() {
            return self.erase(&piece.file);
        }
        let values = from.values();
        for_each_part(&piece.file, &piece.memory, &mut |parts| match from.plan() {
            None => self.elements.write(parts, values),
            Some(plan) => self.write_converted(plan, parts, values.fixed, layout),
        })
    }

    /// Lets elements not be defined any more.
    pub(crate) fn erase(&mut self, part: &Space) -> Result<()> {
        for_each_part(part, part, &mut |parts| self.elements.erase(parts))
    }

    /// Copies values to the caller, or converts them on the way; elements that are not defined have the fill value.
    pub(crate) fn scatter(&self, layout: &ChunkLayout, piece: &Piece, to: &mut ReadBuffer<'_>) -> Result<()> {
        let element = layout.element();
        let mut converted = to.plan().map(ConvertedReads::new).transpose()?;
        for moves in Moves::new(&piece.file, &piece.memory, 1)? {
            for nth in 0..moves.count {
                let (first, place) = (moves.from + nth * moves.from_step, moves.to + nth * moves.to_step);
                match &mut converted {
                    None => {
                        let (places, heap) = to.places_and_heap(place, moves.len, element)?;
                        self.copy(numbers(first, moves.len)?, places, heap, layout)?;
                    }
                    Some(converted) => converted.add((place, moves.len), to, |nth, count, stored| {
                        self.copy(numbers(first + nth, count as u64)?, stored, None, layout)
                    })?,
                }
            }
        }
        converted.map_or(Ok(()), |mut converted| converted.convert(to))
    }

    /// Copies a range of elements to places that lie one after the other, and what is of variable length to `heap`.
    pub(super) fn copy(
        &self,
        wanted: Range<u32>,
        places: &mut [u8],
        heap: Option<&mut Vec<u8>>,
        layout: &ChunkLayout,
    ) -> Result<()> {
        let (structured, shape, mut unused) = (layout.sections()?, layout.shape(), Vec::new());
        let fill = structured.fill();
        let heap = match heap {
            Some(heap) => heap,
            None if shape.slots.is_empty() => &mut unused,
            None => return Err(Error::Layout("values of variable length are in the chunks, and not wanted".into())),
        };
        let place = |number: u32| (number - wanted.start) as usize * shape.size;
        let mut at = wanted.start;
        self.elements.visit(wanted.clone(), &mut |run, values| {
            put_fill(places.get_mut(place(at)..place(run.start)), fill, shape, heap)?;
            let to = places.get_mut(place(run.start)..place(run.end)).ok_or_else(outside)?;
            at = run.end;
            values.copy_to(shape, to, heap)
        })?;
        put_fill(places.get_mut(place(at)..place(wanted.end)), fill, shape, heap)
    }

    /// Calls `each` for runs of selected elements that are defined, in the order of the selection.
    pub(crate) fn defined(&self, selection: &Space, each: &mut dyn FnMut(Range<u32>) -> Result<()>) -> Result<()> {
        for run in selection.runs(1)? {
            self.elements.visit(numbers(run.offset, run.len)?, &mut |run, _| each(run))?;
        }
        Ok(())
    }

    /// Refuses defined elements outside of a dataset that has so many elements of the chunk in each dimension: they would be there when it grows.
    pub(crate) fn check_inside(&self, layout: &ChunkLayout, coord: &[u64], inside: &[u64]) -> Result<()> {
        if !layout.has_selections() || self.is_empty() || inside == layout.chunk() {
            return Ok(());
        }
        let mut defined = layout.whole()?;
        defined.select_row_major(self.elements.runs().map(|run| u64::from(run.start)..u64::from(run.end)))?;
        let Some((_, last)) = defined.bounds() else { return Ok(()) };
        if last.iter().zip(inside).all(|(last, inside)| last < inside) {
            return Ok(());
        }
        let last: Vec<u64> = last.iter().map(|last| last.saturating_add(1)).collect();
        let why = format!(
            "its elements reach to {last:?} in the chunk, where the dataset ends at {inside:?}: leave out what is outside, or resize the dataset first"
        );
        Err(Error::section(coord, 0, why))
    }

    /// The values of defined elements, in parts.
    pub(crate) fn values(&self) -> impl Iterator<Item = PackedValues<'_>> {
        self.elements.values()
    }

    /// Adds the values of the selected elements that are defined to others, by rising number and each once, and calls `each` for runs of these elements.
    pub(crate) fn append_defined(
        &self,
        selection: &Space,
        values: &mut OwnValues,
        each: &mut dyn FnMut(Range<u32>) -> Result<()>,
    ) -> Result<()> {
        for run in selection.to_set()?.runs(1)? {
            self.elements.append_defined(numbers(run.offset, run.len)?, values, &mut *each)?;
        }
        Ok(())
    }

    /// The most memory that the chunk takes more when a piece of it is written, or erased: then runs end where others began.
    pub(crate) fn growth(&self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<u64> {
        let (selected, element) = (piece.file.npoints(), layout.element());
        let heap = heap_bytes(layout, piece, from)?;
        if from.erases() {
            return Ok(segment::most_growth(0, piece.file.runs(1)?.count() as u64, element));
        }
        let most = segment::most_growth(selected, selected, element).saturating_add(2 * heap);
        if most <= FEW {
            return Ok(most);
        }
        let (mut defined, mut runs) = (0, 0);
        for run in piece.file.runs(1)? {
            runs += 1;
            if self.is_empty() {
                continue;
            }
            self.elements.visit(numbers(run.offset, run.len)?, &mut |run, _| {
                defined += u64::from(run.end - run.start);
                Ok(())
            })?;
        }
        Ok(segment::most_growth(selected.saturating_sub(defined), runs, element).saturating_add(2 * heap))
    }

    /// How many elements are defined.
    pub(crate) fn count(&self) -> u64 {
        self.elements.count()
    }

    /// In about how many runs they are.
    pub(crate) fn run_count(&self) -> u64 {
        self.elements.run_count()
    }

    /// Whether no element is defined.
    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The memory that elements and values take.
    pub(crate) fn memory(&self) -> usize {
        self.elements.memory()
    }
}

/// The memory that a stored chunk is expected to take, as its index and others of the dataset tell; with values or without.
pub(crate) fn expected_memory(
    layout: &StructuredLayout,
    sections: &Sections,
    (element, all): (u64, u64),
    part: Part,
) -> u64 {
    let elements = layout.stored_elements(sections, element);
    // Between two runs there is an element that is not defined.
    let runs = layout.expected_runs(elements).min(all.saturating_sub(elements).saturating_add(1));
    match part {
        Part::All => segment::most_memory(elements, runs, element).saturating_add(layout.stored_heap(sections)),
        Part::Selection => segment::most_memory(elements, runs, 0),
    }
}

/// The most memory that a chunk takes more, whatever it has, when a piece of it is written or erased.
pub(crate) fn most_growth(layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<u64> {
    let (selected, heap) = (piece.file.npoints(), 2 * heap_bytes(layout, piece, from)?);
    let written = if from.erases() { 0 } else { selected };
    let most = |runs: u64| segment::most_growth(written, runs, layout.element()).saturating_add(heap);
    // A few elements are not worth a look at how they lie.
    if most(selected) <= FEW { Ok(most(selected)) } else { Ok(most(piece.file.runs(1)?.count() as u64)) }
}

/// The bytes of variable length in the values of a piece.
pub(super) fn heap_bytes(layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<u64> {
    let (shape, values) = (layout.shape(), from.values());
    if shape.slots.is_empty() || from.erases() {
        return Ok(0);
    }
    let mut bytes = 0u64;
    for run in piece.memory.runs(1)? {
        let part = values.part(run.offset as usize, run.len as usize, shape).ok_or_else(outside)?;
        bytes = bytes.saturating_add(part.heap_bytes(shape)?);
    }
    Ok(bytes)
}

/// Puts the value of elements that are not defined into places.
fn put_fill(places: Option<&mut [u8]>, fill: PackedValues<'_>, shape: &ElementShape, heap: &mut Vec<u8>) -> Result<()> {
    let Some(places) = places else { return Ok(()) };
    if fill.fixed.iter().all(|byte| *byte == 0) {
        places.fill(0);
        return Ok(());
    }
    places.chunks_exact_mut(shape.size.max(1)).try_for_each(|place| fill.copy_to(shape, place, heap))
}

/// Elements of a chunk by their numbers.
pub(super) fn numbers(first: u64, count: u64) -> Result<Range<u32>> {
    let number = |number: u64| u32::try_from(number).map_err(|_| outside());
    Ok(number(first)?..number(first.saturating_add(count))?)
}
