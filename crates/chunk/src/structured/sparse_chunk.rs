//! A sparse chunk in memory: its defined elements, after the filters were undone.

use std::ops::Range;

use hyperslab_base::memory;
use hyperslab_format::Sections;
use hyperslab_space::{Moves, Piece, Space};

use super::{
    located_values::for_each_part,
    packed_elements::PackedElements,
    segment::{self, Segments},
    selection_section::{self, Numbers},
};
use crate::{
    ChunkCoord, ChunkLayout, EncodedChunk, Error, ReadBuffer, Result, StoredAs, Workspace, WriteBuffer,
    layout::StructuredLayout, transfer::scatter::outside,
};

/// The bytes of new elements that need no exact account before they come.
const FEW: u64 = 16 << 10;

/// A sparse chunk in memory.
#[derive(Debug)]
pub struct SparseChunk {
    elements: PackedElements,
}

impl SparseChunk {
    /// A chunk without defined elements.
    pub(crate) fn new(layout: &ChunkLayout) -> SparseChunk {
        SparseChunk { elements: PackedElements::new(layout.element() as usize) }
    }

    /// What the stored sections stand for.
    pub(crate) fn decode(
        layout: &ChunkLayout,
        encoded: &EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<SparseChunk> {
        let (structured, element) = (structured(layout)?, layout.element() as usize);
        let [of_selection, of_values] = structured.coders(encoded.filtered);
        let coord = &encoded.coord;
        let section = |number| encoded.section(number).zip(encoded.sections.get(number)).ok_or_else(outside);
        let ((places, selection), (values, data)) = (section(0)?, section(1)?);
        let most = layout.elements().saturating_mul(element as u64);
        let values = of_values.decode(coord, (values, data), most, workspace)?;
        let count = (values.len() / element.max(1)) as u64;
        let most = selection_section::most_bytes(count, layout.chunk().len());
        let places = of_selection.decode(coord, (places, selection), most, workspace)?;
        let refuse = |why| of_selection.refuse(coord, why);
        let space = selection_section::decode(layout.chunk(), of_selection.checked(coord, &places)?).map_err(refuse)?;
        if space.npoints().checked_mul(element as u64) != Some(values.len() as u64) {
            let why = format!("{} bytes for {} elements of {element} bytes", values.len(), space.npoints());
            return Err(of_values.refuse(coord, why));
        }
        let mut segments = Segments::new(element);
        match Numbers::of(&space).map_err(|why| refuse(why.to_string()))? {
            Numbers::Rising(runs) => {
                let mut rest = &*values;
                for run in runs {
                    let (now, later) = rest.split_at_checked(run.len() * element).ok_or_else(outside)?;
                    segments.push(run, now)?;
                    rest = later;
                }
            }
            Numbers::Placed(placed) => {
                for (number, nth) in placed {
                    let value = values.get(nth * element..(nth + 1) * element).ok_or_else(outside)?;
                    segments.push(number..number + 1, value)?;
                }
            }
        }
        Ok(SparseChunk { elements: PackedElements::of(segments, element)? })
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
        let nowhere = || EncodedChunk::nowhere(coord.clone(), structured.nothing(), filtered);
        if self.is_empty() {
            return Ok(nowhere());
        }
        let [of_selection, of_values] = structured.coders(true);
        let how = (filtered, structured.filters());
        let (mut best, mut room): (Option<_>, Vec<u8>) = (None, Vec::new());
        for raw in selection_section::encode(layout.chunk(), self.elements.runs(), filtered && of_selection.filters())?
        {
            room.clear();
            let section = of_selection.encode(coord, &raw, how, &mut room, workspace)?;
            if best.as_ref().is_none_or(|(_, bytes): &(_, Vec<u8>)| room.len() < bytes.len()) {
                best = Some((section, std::mem::take(&mut room)));
            }
        }
        let (selection, mut stored) = best.ok_or_else(outside)?;
        let mut values = memory::with_room(self.bytes())?;
        self.elements.values().for_each(|some| values.extend_from_slice(some));
        let data = of_values.encode(coord, &values, how, &mut stored, workspace)?;
        stored.shrink_to_fit();
        let sections = Sections::new(&[selection, data]).ok_or_else(outside)?;
        EncodedChunk::structured(coord.clone(), stored.into(), sections, filtered).ok_or_else(outside)
    }

    /// Defines elements, with values of the caller, or erases them.
    pub(crate) fn gather(&mut self, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        if from.erases() {
            return self.erase(&piece.file);
        }
        let values = from.stored_bytes()?;
        for_each_part(&piece.file, &piece.memory, &mut |parts| self.elements.write(parts, values))
    }

    /// Lets elements not be defined any more.
    pub(crate) fn erase(&mut self, part: &Space) -> Result<()> {
        for_each_part(part, part, &mut |parts| self.elements.erase(parts))
    }

    /// Copies values to the caller; elements that are not defined have the fill value.
    pub(crate) fn scatter(&self, layout: &ChunkLayout, piece: &Piece, to: &mut ReadBuffer<'_>) -> Result<()> {
        let (fill, element) = (structured(layout)?.fill(), layout.element());
        for moves in Moves::new(&piece.file, &piece.memory, 1)? {
            for nth in 0..moves.count {
                let (first, place) = (moves.from + nth * moves.from_step, moves.to + nth * moves.to_step);
                let places = to.places(place, moves.len, element)?;
                self.copy(numbers(first, moves.len)?, places, element as usize, fill)?;
            }
        }
        Ok(())
    }

    /// Copies a range of elements to places that lie one after the other.
    fn copy(&self, wanted: Range<u32>, places: &mut [u8], element: usize, fill: &[u8]) -> Result<()> {
        let place = |number: u32| (number - wanted.start) as usize * element;
        let mut at = wanted.start;
        self.elements.visit(wanted.clone(), &mut |run, values| {
            put_fill(places.get_mut(place(at)..place(run.start)), fill);
            let to = places.get_mut(place(run.start)..place(run.end)).filter(|to| to.len() == values.len());
            to.ok_or_else(outside)?.copy_from_slice(values);
            at = run.end;
            Ok(())
        })?;
        put_fill(places.get_mut(place(at)..place(wanted.end)), fill);
        Ok(())
    }

    /// Calls `each` for runs of selected elements that are defined, in the order of the selection.
    pub(crate) fn defined(&self, selection: &Space, each: &mut dyn FnMut(Range<u32>) -> Result<()>) -> Result<()> {
        for run in selection.runs(1)? {
            self.elements.visit(numbers(run.offset, run.len)?, &mut |run, _| each(run))?;
        }
        Ok(())
    }

    /// The most memory that the chunk takes more when the elements of a selection are defined, or erased: then runs end where others began.
    pub(crate) fn growth(&self, selection: &Space, from: WriteBuffer<'_>) -> Result<u64> {
        let selected = selection.npoints();
        if from.erases() {
            return Ok(self.elements.growth(0, selection.runs(1)?.count() as u64));
        }
        let most = self.elements.growth(selected, selected);
        if most <= FEW {
            return Ok(most);
        }
        let (mut defined, mut runs) = (0, 0);
        for run in selection.runs(1)? {
            runs += 1;
            self.elements.visit(numbers(run.offset, run.len)?, &mut |run, _| {
                defined += u64::from(run.end - run.start);
                Ok(())
            })?;
        }
        Ok(self.elements.growth(selected.saturating_sub(defined), runs))
    }

    /// How many elements are defined.
    pub(crate) fn count(&self) -> u64 {
        self.elements.count()
    }

    /// Whether no element is defined.
    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The memory that elements and values take.
    pub(crate) fn memory(&self) -> usize {
        self.elements.memory()
    }

    /// The bytes of all values.
    fn bytes(&self) -> usize {
        self.elements.values().map(<[u8]>::len).sum()
    }
}

/// The most memory that a stored chunk takes, as far as its index tells.
pub(crate) fn most_memory(sections: &Sections, element: u64) -> u64 {
    let values = sections.get(1).map_or(0, |section| section.unfiltered.unwrap_or(section.size));
    most_growth(values / element.max(1), element)
}

/// The most memory that so many elements take more, wherever they come between others.
pub(crate) fn most_growth(elements: u64, element: u64) -> u64 {
    segment::most_growth(elements, elements, usize::try_from(element).unwrap_or(usize::MAX))
}

fn structured(layout: &ChunkLayout) -> Result<&StructuredLayout> {
    layout.structured().ok_or_else(|| Error::Layout("chunks without sections".into()))
}

fn put_fill(places: Option<&mut [u8]>, fill: &[u8]) {
    if let Some(places) = places {
        match fill.iter().all(|byte| *byte == 0) {
            true => places.fill(0),
            false => places.chunks_exact_mut(fill.len().max(1)).for_each(|place| place.copy_from_slice(fill)),
        }
    }
}

/// Elements of a chunk by their numbers.
fn numbers(first: u64, count: u64) -> Result<Range<u32>> {
    let number = |number: u64| u32::try_from(number).map_err(|_| outside());
    Ok(number(first)?..number(first.saturating_add(count))?)
}
