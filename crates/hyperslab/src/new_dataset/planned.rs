//! A new dataset that was checked: whatever the user said wrong is found out here, before anything changes.

use hyperslab_dtype::{Datatype, Target};
use hyperslab_format::{
    message::{
        AllocTime, ChunkIndex, ChunkStructure, DatasetFilters, FillTime, FillValue, FillWrite, FilterPipeline, Layout,
    },
    version::{self, LibVersion},
};
use hyperslab_space::{Extent, UNLIMITED};

use super::{Fill, Kind, NewDataset, Shape, Wanted, filters::refuse, guess, structured};
use hyperslab_session::{DatasetPlan, Session, room};

use crate::{Error, ExternalName, Result};

/// The most bytes of values in a header: what the layout message has room for; in headers of version 1 its size is a multiple of eight.
const MOST_COMPACT: [u64; 2] = [65_528 - 4, 65_535 - 4];

impl NewDataset {
    /// Checks what was said.
    pub(crate) fn plan(&self, session: &Session) -> Result<DatasetPlan> {
        let stored = session.file();
        let libver_min = stored.libver_min();
        let (datatype, committed) = self.stored_type(session)?;
        let extent = self.extent()?;
        let structure = self.structure(&datatype);
        let element = match structure {
            Some(structure) if structure.has_vlen() => datatype.in_chunks()?.size(),
            _ => datatype.size(),
        } as u64;
        let in_one_piece = || {
            let size =
                extent.bytes(element).ok_or_else(|| refuse("it has more than 2^64 bytes: say the shape of chunks"))?;
            Ok::<_, Error>(Layout::Contiguous { address: None, size: Some(size) })
        };
        let mut layout = match &self.layout {
            Wanted::Usual | Wanted::SomeChunks => match self.usual_chunks(&extent, element)? {
                Some(chunk) => chunked(structure, chunk, element),
                None => in_one_piece()?,
            },
            Wanted::Chunks(chunk) => chunked(structure, chunk.clone(), element),
            Wanted::Contiguous | Wanted::External(_) => in_one_piece()?,
            Wanted::Compact => Layout::Compact(Vec::new()),
            Wanted::Virtual(_) => Layout::Virtual { heap: None, index: 0 },
        };
        let fill = self.fill(&datatype, &layout)?;
        let filters = match &layout {
            Layout::Chunked { chunk, .. } => {
                check_chunk(chunk, &extent, element)?;
                let value = match &fill.value {
                    FillValue::User(value) => Some(value.clone()),
                    FillValue::Default => Some(vec![0; datatype.size()]),
                    FillValue::Undefined => None,
                };
                let (registry, value) = (session.registry(), value.as_deref());
                if let Layout::Chunked { structure: Some(structure), .. } = &layout {
                    structured::check(session, self, (*structure, &datatype), (&extent, chunk), fill.alloc)?;
                    structured::filters(registry, self, (*structure, &datatype), chunk, value)?
                } else if !self.section_filters.is_empty() {
                    return Err(refuse(structured::NO_SECTIONS));
                } else {
                    let steps = self.filters.iter().map(|wish| wish.step(registry, &datatype, chunk, value));
                    let version = version::filter_pipeline(libver_min);
                    DatasetFilters::Chunk(FilterPipeline::of_version(version, steps.collect::<Result<_>>()?))
                }
            }
            _ if self.sparse || self.vlen_chunks => return Err(refuse(structured::ONLY_CHUNKS)),
            _ if !self.section_filters.is_empty() => return Err(refuse(structured::NO_SECTIONS)),
            _ if !self.filters.is_empty() => {
                return Err(refuse("only chunks go through filters: say the shape of chunks, or no layout at all"));
            }
            _ => DatasetFilters::default(),
        };
        let filtered = !filters.is_empty();
        let layout_version = version::data_layout(libver_min, &layout, filtered);
        if let Layout::Chunked { structure, chunk, index, .. } = &mut layout {
            let usual = match structure {
                Some(structure) => version::structured_chunk_index(&extent, chunk, *structure, filtered),
                None => version::chunk_index(layout_version, &extent, chunk, filtered, fill.alloc),
            };
            *index = hyperslab_chunk::index_that_holds(usual, &extent, chunk);
            hyperslab_chunk::check_new(index, &extent, chunk, element).map_err(|why| refuse(why.to_string()))?;
        }
        self.check_layout(&extent, extent.bytes(element).unwrap_or(u64::MAX), libver_min)?;
        let is_elsewhere = matches!(self.layout, Wanted::External(_) | Wanted::Virtual(_) | Wanted::Compact);
        let is_structured = matches!(layout, Layout::Chunked { structure: Some(_), .. });
        let is_own = datatype.has_vlen() && !is_structured && matches!(fill.value, FillValue::User(_));
        if is_own && (is_elsewhere || extent.dims() != extent.max()) {
            // Each element has its own copy, which new space would lack.
            return Err(refuse("a fill value of variable length goes with chunks or one piece, and a size that stays"));
        }
        let external = match &self.layout {
            Wanted::External(files) => files.clone(),
            _ => Vec::new(),
        };
        let mappings = match &self.layout {
            Wanted::Virtual(mappings) => mappings.clone(),
            _ => Vec::new(),
        };
        if let Layout::Compact(values) = &mut layout {
            *values = filled(&fill, extent.elements().unwrap_or(u64::MAX), datatype.size())?;
        }
        Ok(DatasetPlan { extent, datatype, committed, fill, filters, layout, layout_version, external, mappings })
    }

    /// What its chunks are, if they have several sections.
    fn structure(&self, datatype: &Datatype) -> Option<ChunkStructure> {
        match (self.sparse, self.vlen_chunks || self.sparse && datatype.varies()) {
            (true, true) => Some(ChunkStructure::SparseVlen),
            (true, false) => Some(ChunkStructure::Sparse),
            (false, true) => Some(ChunkStructure::DenseVlen),
            (false, false) => None,
        }
    }

    /// The stored type, and where it is committed.
    fn stored_type(&self, session: &Session) -> Result<(Datatype, Option<u64>)> {
        match &self.kind {
            Kind::Given(datatype) => Ok((session.in_file(datatype)?, None)),
            Kind::Committed(named) if named.session() == session => Ok((named.datatype()?, Some(named.address()))),
            Kind::Committed(_) => Err(refuse("a committed datatype of another file")),
        }
    }

    fn extent(&self) -> Result<Extent> {
        let dims = match &self.shape {
            Shape::Unknown => return Err(refuse("say its shape, or write values to it at once")),
            Shape::Empty | Shape::Scalar if self.max.as_ref().is_some_and(|max| !max.is_empty()) => {
                return Err(refuse("what has no dimensions cannot grow"));
            }
            Shape::Empty => return Ok(Extent::null()),
            Shape::Scalar => return Ok(Extent::scalar()),
            Shape::Simple(dims) => dims,
        };
        Ok(match &self.max {
            Some(max) => Extent::with_max(dims, max)?,
            None => Extent::simple(dims)?,
        })
    }

    /// The chunks of a dataset of which the caller did not say how it is stored; none if one piece will do.
    fn usual_chunks(&self, extent: &Extent, element: u64) -> Result<Option<Vec<u64>>> {
        let wanted = matches!(self.layout, Wanted::SomeChunks);
        if !wanted && !self.sparse && !self.vlen_chunks && self.filters.is_empty() && extent.max() == extent.dims() {
            return Ok(None);
        }
        match extent.rank() {
            0 => Err(refuse("what has no dimensions has no chunks, so neither filters")),
            _ => {
                let mut chunk = guess::chunk(extent.dims(), element);
                // A chunk must not be larger than the dataset can ever be.
                for (side, &max) in chunk.iter_mut().zip(extent.max()) {
                    *side = (*side).min(max.max(1));
                }
                Ok(Some(chunk))
            }
        }
    }

    fn fill(&self, datatype: &Datatype, layout: &Layout) -> Result<FillWrite> {
        let value = match &self.fill {
            Fill::Zeros => FillValue::Default,
            Fill::Undefined => FillValue::Undefined,
            Fill::Given(encode) => FillValue::User(encode(datatype, 1, &mut Nowhere)?),
        };
        let usual = match layout {
            Layout::Compact(_) => AllocTime::Early,
            Layout::Contiguous { .. } => AllocTime::Late,
            Layout::Chunked { .. } | Layout::Virtual { .. } => AllocTime::Incremental,
        };
        let alloc = self.alloc_time.filter(|time| *time != AllocTime::Default).unwrap_or(usual);
        if matches!(layout, Layout::Compact(_)) && alloc != AllocTime::Early {
            return Err(refuse("values in the header have their space from the start: the allocation time is early"));
        }
        let mut write = self.fill_time.unwrap_or(FillTime::IfSet);
        if datatype.has_vlen() && !matches!(layout, Layout::Chunked { structure: Some(_), .. }) {
            // Else what was never written would be taken for references.
            match write {
                FillTime::Never => return Err(refuse("values of variable length need their fill value written")),
                FillTime::IfSet if value == FillValue::Default => write = FillTime::Alloc,
                _ => {}
            }
        }
        if value == FillValue::Undefined && write == FillTime::Alloc {
            return Err(refuse("there is no fill value that could be written"));
        }
        Ok(FillWrite { value, alloc, write })
    }

    fn check_layout(&self, extent: &Extent, bytes: u64, libver_min: LibVersion) -> Result<()> {
        let [old, new] = MOST_COMPACT;
        let most = if libver_min == LibVersion::Earliest { old } else { new };
        let fixed = extent.dims() == extent.max();
        match &self.layout {
            Wanted::Compact if !fixed => Err(refuse("values in the header cannot grow: say the shape of chunks")),
            Wanted::Compact if bytes > most => {
                Err(refuse(format!("{bytes} bytes of values, but a header has room for {most}")))
            }
            Wanted::Contiguous if !fixed => Err(refuse("values in one piece cannot grow: say the shape of chunks")),
            Wanted::External(files) => check_external(files, extent, bytes),
            Wanted::Virtual(_) if extent.rank() == 0 => Err(refuse("a virtual dataset needs dimensions")),
            _ => Ok(()),
        }
    }
}

/// For what is only tried: references to nothing. The file gets its own when everything was checked.
struct Nowhere;

impl Target for Nowhere {
    fn store(&mut self, _: Option<(usize, &[u8])>, reference: &mut [u8]) -> hyperslab_dtype::Result<()> {
        reference.fill(0);
        Ok(())
    }
}

fn chunked(structure: Option<ChunkStructure>, chunk: Vec<u64>, element_size: u64) -> Layout {
    Layout::Chunked { structure, chunk, element_size, plain_edges: false, index: ChunkIndex::BtreeV1, address: None }
}

fn check_chunk(chunk: &[u64], extent: &Extent, element: u64) -> Result<()> {
    if chunk.len() != extent.rank() || chunk.is_empty() {
        return Err(refuse(format!("chunks of {chunk:?} for a shape of {:?}: both need as many", extent.dims())));
    }
    if let Some(dim) = chunk.iter().position(|&side| side == 0) {
        return Err(refuse(format!("chunks without elements in dimension {dim}")));
    }
    let sides = chunk.iter().zip(extent.max());
    if let Some(dim) = sides.clone().position(|(&side, &max)| max != UNLIMITED && side > max && max > 0) {
        let (side, max) = (chunk.get(dim).unwrap_or(&0), extent.max().get(dim).unwrap_or(&0));
        return Err(refuse(format!("chunks of {side} in dimension {dim}, which never has more than {max}")));
    }
    let bytes = chunk.iter().try_fold(element, |bytes, side| bytes.checked_mul(*side));
    match bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
        Some(_) => Ok(()),
        None => Err(refuse("chunks of more than 2^64 bytes")),
    }
}

fn check_external(files: &[ExternalName], extent: &Extent, bytes: u64) -> Result<()> {
    if extent.max().iter().skip(1).zip(extent.dims().iter().skip(1)).any(|(max, dim)| max != dim) {
        return Err(refuse("values in other files grow in the first dimension only"));
    }
    let Some((last, others)) = files.split_last() else {
        return Err(refuse("values in other files need a file"));
    };
    if others.iter().any(|(.., size)| size.is_none()) {
        return Err(refuse("only the last of the other files may be without end"));
    }
    let room = files.iter().try_fold(0u64, |room, (.., size)| room.checked_add(size.unwrap_or(0)));
    let enough = last.2.is_none() || room.is_some_and(|room| room >= bytes && extent.max().first() != Some(&UNLIMITED));
    match enough {
        true => Ok(()),
        false => Err(refuse(format!("the other files have room for {} bytes, not {bytes}", room.unwrap_or(0)))),
    }
}

/// Elements that were never written.
fn filled(fill: &FillWrite, count: u64, size: usize) -> Result<Vec<u8>> {
    let mut bytes = room(count, size)?;
    if let (FillValue::User(value), FillTime::Alloc | FillTime::IfSet) = (&fill.value, fill.write) {
        bytes.chunks_exact_mut(value.len().max(1)).for_each(|place| place.copy_from_slice(value));
    }
    Ok(bytes)
}
