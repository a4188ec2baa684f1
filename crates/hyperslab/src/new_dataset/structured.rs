//! New datasets with structured chunks: what they cannot be, and the filters of their sections.

use hyperslab_dtype::{Class, Datatype, Nesting};
use hyperslab_filter::{Bzip2, Deflate, Delta, Lz4, Lzf, Registry, Shuffle, Zstd};
use hyperslab_format::message::{AllocTime, ChunkStructure, DatasetFilters, FilterStep, SectionFilters};
use hyperslab_session::{Session, too_many_elements};
use hyperslab_space::Extent;

use super::{
    ChunkSection, NewDataset, Wanted,
    filters::{NewFilter, refuse},
};
use crate::Result;

/// The bytes of the checksum at the end of a section.
const CHECKSUM: u32 = 4;

/// Why a layout is refused.
pub(super) const ONLY_CHUNKS: &str =
    "only chunks are sparse, or have values of variable length in them: say the shape of chunks, or no layout at all";

/// Why filters of sections are refused.
pub(super) const NO_SECTIONS: &str =
    "only chunks that are sparse or have values of variable length in them have sections";

/// Refuses what no dataset with structured chunks can be.
pub(super) fn check(
    session: &Session,
    new: &NewDataset,
    (structure, datatype): (ChunkStructure, &Datatype),
    (extent, chunk): (&Extent, &[u64]),
    alloc: AllocTime,
) -> Result<()> {
    session.file().check_structured_chunks()?;
    if structure.has_vlen() {
        if !datatype.varies() {
            return Err(refuse(format!("values of type {datatype} have nothing of variable length to be in chunks")));
        }
        Nesting::of(datatype)?;
    }
    if alloc != AllocTime::Incremental {
        let why =
            "elements of sparse datasets get their space when they are written: the allocation time is incremental";
        return Err(refuse(why));
    }
    if !matches!(new.layout, Wanted::Usual | Wanted::SomeChunks | Wanted::Chunks(_)) {
        return Err(refuse(ONLY_CHUNKS));
    }
    let lacks = |section: &ChunkSection| match section {
        ChunkSection::Selection => !structure.is_sparse(),
        ChunkSection::Values => false,
        ChunkSection::Vlen => !structure.has_vlen(),
    };
    let said = new.section_filters.iter().find(|(section, filters)| lacks(section) && !filters.is_empty());
    if let Some((section, _)) = said {
        return Err(refuse(format!("filters of the section {section:?}, which chunks of the dataset do not have")));
    }
    let elements = chunk.iter().fold(1u64, |elements, side| elements.saturating_mul(*side));
    if elements > u64::from(u32::MAX) {
        return Err(refuse(format!("a sparse chunk of {elements} elements, more than 2^32 - 1")));
    }
    if structure.is_sparse() && extent.elements().is_none() {
        return Err(refuse(too_many_elements(extent.dims())));
    }
    Ok(())
}

/// The filters of each section: those that are wished for, as they suit what is in it.
pub(super) fn filters(
    registry: &Registry,
    new: &NewDataset,
    (structure, datatype): (ChunkStructure, &Datatype),
    chunk: &[u64],
    fill: Option<&[u8]>,
) -> Result<DatasetFilters> {
    let wished = |section: ChunkSection| match new.section_filters.get(&section) {
        Some(own) => own.iter().collect(),
        None if section == ChunkSection::Values && !structure.has_vlen() => new.filters.iter().collect(),
        None => new.filters.iter().filter(|wish| !wish.needs_numbers()).collect::<Vec<_>>(),
    };
    let of = |section: ChunkSection, datatype: &Datatype, chunk: &[u64], fill: Option<&[u8]>| -> Result<Vec<_>> {
        wished(section).into_iter().map(|wish: &NewFilter| wish.step(registry, datatype, chunk, fill)).collect()
    };
    let elements: u64 = chunk.iter().product();
    let mut sections = Vec::new();
    if structure.is_sparse() {
        // The numbers that name one element are together.
        let number = if elements > u64::from(u16::MAX) { 4 } else { 2 };
        let place = Datatype::opaque(number * chunk.len() as u32, "")?;
        let mut steps = of(ChunkSection::Selection, &place, &[elements], None)?;
        if !new.section_filters.contains_key(&ChunkSection::Selection) && steps.iter().any(compresses) {
            steps = sort_out(registry, &place, chunk.len() as u32, steps)?;
        }
        sections.push(steps);
    }
    if structure.has_vlen() {
        sections.push(of(
            ChunkSection::Values,
            &Datatype::opaque(datatype.in_chunks()?.size() as u32, "")?,
            chunk,
            None,
        )?);
        sections.push(of(ChunkSection::Vlen, &Datatype::opaque(width(datatype), "")?, &[elements], None)?);
    } else {
        sections.push(of(ChunkSection::Values, datatype, chunk, fill)?);
    }
    let mut sections: Vec<_> = (0..).zip(sections).filter(|(_, steps): &(u8, Vec<_>)| !steps.is_empty()).collect();
    for (_, steps) in &mut sections {
        // Names of the library's own filters have no place there.
        steps.iter_mut().filter(|step| step.id < 256).for_each(|step| step.name.clear());
    }
    Ok(match sections.is_empty() {
        true => DatasetFilters::default(),
        false => DatasetFilters::Sections(SectionFilters { sections }),
    })
}

/// Lets a compressor find what is alike in numbers that rise: their differences, byte by byte.
fn sort_out(registry: &Registry, place: &Datatype, rank: u32, steps: Vec<FilterStep>) -> Result<Vec<FilterStep>> {
    let [delta, shuffle] = [(Delta::ID, Delta::params(rank, CHECKSUM)), (Shuffle::ID, Vec::new())]
        .map(|(id, params)| NewFilter { id, optional: true, params }.step(registry, place, &[1], None));
    let others = steps.into_iter().filter(|step| step.id != Shuffle::ID);
    Ok([delta?, shuffle?].into_iter().chain(others).collect())
}

/// Whether a filter makes bytes fewer that are alike, and leaves their order to others.
fn compresses(step: &FilterStep) -> bool {
    [Deflate::ID, Bzip2::ID, Lzf::ID, Lz4::ID, Zstd::ID].contains(&step.id)
}

/// The bytes of what sequences are of, if all are of the same size; else one.
fn width(datatype: &Datatype) -> u32 {
    match datatype.class() {
        Class::Vlen(vlen) if !vlen.base.varies() => vlen.base.size() as u32,
        Class::Array(array) => width(array.base()),
        _ => 1,
    }
}
