//! A sparse chunk from the file and back: its sections, and the elements that they tell of.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_format::Sections;
use hyperslab_space::Space;

use super::{packed_elements::PackedElements, segment::Segments, selection_section, sparse_chunk::SparseChunk};
use crate::{
    ChunkCoord, ChunkLayout, EncodedChunk, Error, Result, StoredAs, Workspace, layout::StructuredLayout,
    transfer::scatter::outside,
};

/// What was missing of a chunk that was loaded in part.
pub enum Rest {
    /// The values, by rising number of their elements.
    Values(Vec<u8>),
    /// All of it, because the file has the values in another order.
    All(SparseChunk),
}

impl SparseChunk {
    /// What the sections stand for of which the index knows this. If only section 0 was read, the chunk has no values.
    pub(crate) fn decode(
        layout: &ChunkLayout,
        sections: &Sections,
        encoded: &EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<SparseChunk> {
        let element = layout.element() as usize;
        let space = decode_selection(layout, sections, encoded, workspace)?;
        let refuse = |why: Error| match structured(layout) {
            Ok(structured) => structured.coders(encoded.filtered)[0].refuse(&encoded.coord, why.to_string()),
            Err(why) => why,
        };
        let mut segments = Segments::new(element);
        let in_order = selection_section::is_rising(&space)?;
        let sorted = if in_order { Vec::new() } else { selection_section::sorted(&space).map_err(refuse)? };
        if encoded.sections.len() == 1 {
            match in_order {
                true => selection_section::runs(&space)?.try_for_each(|run| segments.push(run, &[]))?,
                false => sorted.iter().try_for_each(|(number, _)| segments.push(*number..number + 1, &[]))?,
            }
            return Ok(SparseChunk::of(PackedElements::without_values(segments, element)?, in_order));
        }
        let values = decode_values(layout, sections, encoded, 1, workspace)?;
        for (number, nth) in sorted {
            let value = values.get(nth * element..(nth + 1) * element).ok_or_else(outside)?;
            segments.push(number..number + 1, value)?;
        }
        if in_order {
            let mut rest = &*values;
            for run in selection_section::runs(&space)? {
                let (now, later) = rest.split_at_checked(run.len() * element).ok_or_else(outside)?;
                segments.push(run, now)?;
                rest = later;
            }
        }
        Ok(SparseChunk::of(PackedElements::of(segments, element)?, in_order))
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
        let [of_selection, of_values] = structured.coders(true);
        let (how, elements) = ((filtered, structured.filters()), self.elements());
        let (mut best, mut room): (Option<_>, Vec<u8>) = (None, Vec::new());
        let tries = filtered && of_selection.filters();
        for raw in selection_section::encode(layout.chunk(), elements.runs(), tries)? {
            room.clear();
            let section = of_selection.encode(coord, &raw, how, &mut room, workspace)?;
            if best.as_ref().is_none_or(|(_, bytes): &(_, Vec<u8>)| room.len() < bytes.len()) {
                best = Some((section, std::mem::take(&mut room)));
            }
        }
        let (selection, mut stored) = best.ok_or_else(outside)?;
        let mut values = memory::with_room(elements.values().map(<[u8]>::len).sum())?;
        elements.values().for_each(|some| values.extend_from_slice(some));
        let data = of_values.encode(coord, &values, how, &mut stored, workspace)?;
        stored.shrink_to_fit();
        let sections = Sections::new(&[selection, data]).ok_or_else(outside)?;
        EncodedChunk::structured(coord.clone(), stored.into(), sections, filtered).ok_or_else(outside)
    }
}

impl Rest {
    /// The memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Rest::Values(values) => values.capacity(),
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
        match encoded.sections.len() == sections.len() {
            true => SparseChunk::decode(layout, sections, encoded, workspace).map(Rest::All),
            false => {
                decode_values(layout, sections, encoded, 0, workspace).map(|values| Rest::Values(values.into_owned()))
            }
        }
    }
}

/// How many elements a stored chunk has, as its index tells.
pub(super) fn stored_elements(sections: &Sections, element: u64) -> u64 {
    sections.get(1).map_or(0, |section| section.unfiltered.unwrap_or(section.size)) / element.max(1)
}

/// What chunks have beside a shape.
pub(super) fn structured(layout: &ChunkLayout) -> Result<&StructuredLayout> {
    layout.structured().ok_or_else(|| Error::Layout("chunks without sections".into()))
}

/// The defined elements of a chunk, as many as it has values.
fn decode_selection(
    layout: &ChunkLayout,
    sections: &Sections,
    encoded: &EncodedChunk<'_>,
    workspace: &mut Workspace,
) -> Result<Space> {
    let [coder, of_values] = structured(layout)?.coders(encoded.filtered);
    let (coord, element) = (&encoded.coord, layout.element());
    let data = sections.get(1).ok_or_else(outside)?;
    let bytes = data.unfiltered.unwrap_or(data.size);
    let count = stored_elements(sections, element);
    if count > layout.elements() {
        return Err(
            of_values.refuse(coord, format!("{bytes} bytes, where the chunk has {} elements", layout.elements()))
        );
    }
    let stored = encoded.section(0).zip(sections.get(0)).ok_or_else(outside)?;
    let most = selection_section::most_bytes(count, layout.chunk().len());
    let section = coder.decode(coord, stored, most, workspace)?;
    let refuse = |why| coder.refuse(coord, why);
    let space = selection_section::decode(layout.chunk(), coder.checked(coord, &section)?).map_err(refuse)?;
    if space.npoints().checked_mul(element) != Some(bytes) {
        let why = format!("{bytes} bytes for {} elements of {element} bytes", space.npoints());
        return Err(of_values.refuse(coord, why));
    }
    Ok(space)
}

/// The values of a chunk, in the order of its selection: section 1, which is one of those that were read.
fn decode_values<'a>(
    layout: &ChunkLayout,
    sections: &Sections,
    encoded: &'a EncodedChunk<'_>,
    nth: usize,
    workspace: &mut Workspace,
) -> Result<Cow<'a, [u8]>> {
    let [_, coder] = structured(layout)?.coders(encoded.filtered);
    let most = stored_elements(sections, layout.element()).saturating_mul(layout.element());
    let stored = encoded.section(nth).zip(sections.get(1)).ok_or_else(outside)?;
    coder.decode(&encoded.coord, stored, most, workspace)
}
