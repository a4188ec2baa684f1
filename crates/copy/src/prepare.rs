//! Objects before they are made: everything that can be wrong with the source is found out here.

use hyperslab_dtype::Datatype;
use hyperslab_format::{
    message::{DatasetFilters, FillValue, FilterPipeline, Layout},
    version,
};
use hyperslab_session::{DatasetPlan, Error, Layout as Stored, OpenDataset, OpenObject, Result, room};
use hyperslab_space::UNLIMITED;

use crate::{
    damage::{OfSource, Step, Trouble},
    prepared::{Prepared, group_settings, settings},
    tree::{Copier, key},
};

/// A dataset needs its committed datatype, and what its fill value refers to, which may need others.
const MOST_PREPARING: usize = 64;

impl Copier<'_> {
    /// An object like `from`, before it is made.
    pub(super) fn prepare(&mut self, from: &OpenObject) -> Step<Prepared> {
        let key = key(from.session(), from.address());
        if self.preparing.len() >= MOST_PREPARING || !self.preparing.insert(key) {
            let why = format!("it needs itself or more than {MOST_PREPARING} objects before it can be made");
            return Err(Trouble::Source(Error::Change(why)));
        }
        let prepared = self.prepared(from);
        self.preparing.remove(&key);
        prepared
    }

    fn prepared(&mut self, from: &OpenObject) -> Step<Prepared> {
        match from {
            OpenObject::Group(group) => {
                let object = group.current().of_source()?;
                Ok(Prepared::Group(settings(&object), group_settings(group).of_source()?))
            }
            OpenObject::Datatype(named) => {
                let object = named.current().of_source()?;
                let (datatype, _) = object.datatype(named.session.context()).of_source()?;
                Ok(Prepared::Datatype(settings(&object), self.target.in_file(&datatype)?))
            }
            OpenObject::Dataset(dataset) => {
                let committed = dataset.committed();
                let committed = committed.map(|address| self.committed(dataset.session(), address)).transpose()?;
                let settings = settings(&*dataset.object().of_source()?);
                let mut planned = planned(self, dataset, committed).of_source()?;
                self.restore(dataset, &mut planned)?;
                let fill = match &planned.fill.value {
                    FillValue::User(value) => {
                        self.gather(dataset.session(), dataset.datatype(), &planned.datatype, value).of_source()?
                    }
                    _ => None,
                };
                if let (Some(fill), FillValue::User(value)) = (&fill, &mut planned.fill.value) {
                    // As long as it will be.
                    *value = fill.values().to_vec();
                }
                Ok(Prepared::Dataset(settings, Box::new(planned), fill))
            }
        }
    }
}

/// A dataset like another one, but without values that are other bytes in the target.
fn planned(copier: &Copier<'_>, from: &OpenDataset, committed: Option<u64>) -> Result<DatasetPlan> {
    let target = &copier.target;
    let datatype = target.in_file(from.datatype())?;
    let element = if from.has_vlen_chunks() { datatype.in_chunks()?.size() } else { datatype.size() } as u64;
    let extent = from.stored_extent()?;
    let (libver_min, fill) = (target.file().libver_min(), from.fill().clone());
    let filters = match from.dataset_filters() {
        DatasetFilters::Chunk(filters) => {
            let version = version::filter_pipeline(libver_min);
            DatasetFilters::Chunk(FilterPipeline::of_version(version, filters.steps.clone()))
        }
        sections => sections.clone(),
    };
    let bytes = extent.bytes(element).unwrap_or(u64::MAX);
    let (mut least, mut plain) = (0, false);
    let mut layout = match from.stored_layout().layout {
        Layout::Compact(values) => Layout::Compact(compact(copier, from, &datatype, values)?),
        Layout::Contiguous { .. } => Layout::Contiguous { address: None, size: Some(bytes) },
        Layout::Virtual { .. } => Layout::Virtual { heap: None, index: 0 },
        Layout::Chunked { structure, chunk, plain_edges, index, .. } => {
            (least, plain) = (if plain_edges { 4 } else { 0 }, plain_edges);
            Layout::Chunked { structure, chunk, element_size: element, plain_edges, index, address: None }
        }
    };
    let filtered = !filters.is_empty();
    let mut layout_version = version::data_layout(libver_min, &layout, filtered).max(least);
    if let Layout::Chunked { structure: None, chunk, .. } = &layout
        && least < 4
        && !is_countable(extent.max(), chunk)
    {
        // Newer versions have an array with a place for each chunk that there may be.
        layout_version = layout_version.min(3);
    }
    if let Layout::Chunked { structure, chunk, index, plain_edges, .. } = &mut layout {
        if chunk.len() != extent.rank() {
            let why = format!("a chunk of {chunk:?} in an extent of {:?}", extent.dims());
            return Err(hyperslab_chunk::Error::Layout(why).into());
        }
        let usual = match structure {
            Some(structure) => {
                target.file().check_structured_chunks()?;
                version::structured_chunk_index(&extent, chunk, *structure, filtered)
            }
            None => version::chunk_index(layout_version, &extent, chunk, filtered, fill.alloc),
        };
        *index = hyperslab_chunk::index_that_holds(usual, &extent, chunk);
        *plain_edges = plain;
    }
    let external = match from.layout()? {
        Stored::External(names) => names,
        _ => Vec::new(),
    };
    let mappings = from.virtual_mappings()?;
    Ok(DatasetPlan { extent, datatype, committed, fill, filters, layout, layout_version, external, mappings })
}

/// The values that a copy has in its header from the start: zeros for those that are other bytes in the target. The copy may be deleted
/// before its values are there, and must not refer to what others have in the heap.
fn compact(copier: &Copier<'_>, from: &OpenDataset, datatype: &Datatype, values: Vec<u8>) -> Result<Vec<u8>> {
    from.check_values()?;
    let stored = room(from.len(), datatype.size())?;
    let is_same = values.len() == stored.len() && !copier.changes(from.session(), from.datatype(), datatype);
    Ok(if is_same { values } else { stored })
}

/// So many places of an array take 16 GiB.
const MOST_PLACES: u64 = 1 << 31;

/// Whether an array could have a place for each chunk. One that may grow without end has no such array.
fn is_countable(max: &[u64], chunk: &[u64]) -> bool {
    let count = |(&max, &chunk): (&u64, &u64)| max.div_ceil(chunk.max(1));
    let chunks = max.iter().zip(chunk).map(count).fold(1, u64::saturating_mul);
    max.contains(&UNLIMITED) || chunks <= MOST_PLACES
}
