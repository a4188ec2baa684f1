//! New sparse datasets: what they cannot be, and the filters of their sections.

use hyperslab_dtype::Datatype;
use hyperslab_filter::Registry;
use hyperslab_format::message::{AllocTime, DatasetFilters, SectionFilters};
use hyperslab_session::Session;

use super::{ChunkSection, NewDataset, Wanted, planned::refuse};
use crate::Result;

/// The numbers of the sections that tell which elements are defined, and their values.
const SELECTION: u8 = 0;
const VALUES: u8 = 1;

/// Refuses what no sparse dataset can be.
pub(super) fn check(
    session: &Session,
    new: &NewDataset,
    datatype: &Datatype,
    chunk: &[u64],
    alloc: AllocTime,
) -> Result<()> {
    session.file().check_structured_chunks().map_err(|why| refuse(why.to_string()))?;
    if datatype.has_vlen() || datatype.has_reference() {
        return Err(refuse("sparse datasets of variable length or of references are not supported yet"));
    }
    if alloc != AllocTime::Incremental {
        let why =
            "elements of sparse datasets get their space when they are written: the allocation time is incremental";
        return Err(refuse(why));
    }
    if !matches!(new.layout, Wanted::Usual | Wanted::SomeChunks | Wanted::Chunks(_)) {
        return Err(refuse("only chunks are sparse: say the shape of chunks, or no layout at all"));
    }
    let elements = chunk.iter().fold(1u64, |elements, side| elements.saturating_mul(*side));
    if elements > u64::from(u32::MAX) {
        return Err(refuse(format!("a sparse chunk of {elements} elements, more than 2^32 - 1")));
    }
    Ok(())
}

/// The filters of each section: those that are wished for, as they suit what is in it.
pub(super) fn filters(
    registry: &Registry,
    new: &NewDataset,
    datatype: &Datatype,
    chunk: &[u64],
    fill: Option<&[u8]>,
) -> Result<DatasetFilters> {
    // The numbers that name one element are together.
    let elements: u64 = chunk.iter().product();
    let number = if elements > u64::from(u16::MAX) { 4 } else { 2 };
    let place = Datatype::opaque(number * chunk.len() as u32, "")?;
    let of_selection = match new.section_filters.get(&ChunkSection::Selection) {
        Some(own) => own.iter().collect(),
        None => new.filters.iter().filter(|wish| !wish.needs_numbers()).collect::<Vec<_>>(),
    };
    let of_selection = of_selection.into_iter().map(|wish| wish.step(registry, &place, &[elements], None));
    let of_values = new.section_filters.get(&ChunkSection::Values).unwrap_or(&new.filters);
    let of_values = of_values.iter().map(|wish| wish.step(registry, datatype, chunk, fill));
    let sections =
        [(SELECTION, of_selection.collect::<Result<Vec<_>>>()?), (VALUES, of_values.collect::<Result<_>>()?)];
    let mut sections: Vec<_> = sections.into_iter().filter(|(_, steps)| !steps.is_empty()).collect();
    for (_, steps) in &mut sections {
        // Names of the library's own filters have no place there.
        steps.iter_mut().filter(|step| step.id < 256).for_each(|step| step.name.clear());
    }
    Ok(match sections.is_empty() {
        true => DatasetFilters::default(),
        false => DatasetFilters::Sections(SectionFilters { sections }),
    })
}
