//! Sparse chunks: what tells which elements are defined is read, and held against the values that there are. Values are not read.

use std::sync::Arc;

use hyperslab_base::lookup3;
use hyperslab_chunk::{ChunkFilters, Chunked, ChunkedParts, Section, Sections};
use hyperslab_file::{OpenFile, Survey};
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::message::{DataLayout, DatasetFilters, Layout};
use hyperslab_space::{Extent, Kind, Space};

/// What a finding calls a chunk.
const CHUNK: &str = "chunk";
/// The bytes of the checksum behind the encoded selection.
const CHECKSUM: usize = 4;

/// A sparse dataset, as its header tells of it.
pub(crate) struct SparseDataset<'a> {
    pub(crate) address: u64,
    pub(crate) layout: &'a DataLayout,
    pub(crate) extent: &'a Extent,
    /// The bytes of an element.
    pub(crate) element: u64,
    pub(crate) filters: &'a DatasetFilters,
}

/// What is the same for all chunks of a dataset.
struct Chunks<'a> {
    chunk: &'a [u64],
    element: u64,
    pipeline: &'a Pipeline,
    registry: &'a Registry,
}

impl SparseDataset<'_> {
    /// Reads the selection of each chunk. What the index or the header contradict is told of when they are surveyed. Chunks behind filters that are not known here stay
    /// unread.
    pub(crate) fn survey(&self, file: &OpenFile, survey: &mut dyn Survey) {
        let registry = Arc::new(Registry::default());
        let (Layout::Chunked { structure: Some(structure), chunk, .. }, Ok(filters)) =
            (&self.layout.layout, hyperslab_chunk::filters(self.filters))
        else {
            return;
        };
        let pipeline = match &filters {
            ChunkFilters::Sections(pipelines) => pipelines.first().cloned().unwrap_or_default(),
            ChunkFilters::Chunk(_) => Pipeline::default(),
        };
        if !structure.is_sparse() || pipeline.steps().iter().any(|step| registry.get(step.id).is_none()) {
            return;
        }
        let (layout, version, extent, element) = (&self.layout.layout, self.layout.version, self.extent, self.element);
        let parts = ChunkedParts { layout, version, extent, element, filters, registry: registry.clone(), fill: None };
        let opened = Chunked::open(file.owned_by(self.address), parts);
        let Ok(entries) = opened.and_then(|chunked| chunked.entries(file)) else { return };
        let chunks = Chunks { chunk, element, pipeline: &pipeline, registry: &registry };
        for (coord, entry) in entries {
            let address = entry.address.unwrap_or(0);
            // One that reaches over the end of the file was told of with the index.
            if file.check(CHUNK, address, entry.sections.bytes()).is_err() {
                continue;
            }
            if let Err((section, why)) = chunks.check(file, address, &entry.sections) {
                let what = if section == 0 { "which elements are defined" } else { "values" };
                let coord: &[u64] = &coord;
                survey.problem(CHUNK, address, format!("section {section} ({what}) of chunk {coord:?}: {why}"));
            }
        }
    }
}

impl Chunks<'_> {
    /// Holds the sections of a chunk against each other; which of them is wrong, and why.
    fn check(&self, file: &OpenFile, address: u64, sections: &Sections) -> Result<(), (usize, String)> {
        let (Some(selection), Some(values)) = (sections.get(0), sections.get(1)) else {
            return Err((0, format!("{} sections, where a sparse chunk has two", sections.len())));
        };
        let bytes = values.unfiltered.unwrap_or(values.size);
        let dense = self.chunk.iter().fold(self.element, |bytes, side| bytes.saturating_mul(*side));
        if bytes % self.element.max(1) != 0 || bytes > dense {
            return Err((1, format!("{bytes} bytes of values, each of {}, where a chunk has {dense}", self.element)));
        }
        // An extent, heads, and two corners in each dimension for each element take no more, however they are encoded.
        let most = (bytes / self.element.max(1) + 2).saturating_mul(16 * self.chunk.len() as u64).saturating_add(68);
        if let Some(long) = selection.unfiltered.filter(|long| *long > most) {
            return Err((0, format!("{long} bytes before filters, where the chunk can have {most}")));
        }
        let defined = self.selection(file, address, selection).map_err(|why| (0, why))?;
        match defined.npoints().checked_mul(self.element) {
            Some(needed) if needed == bytes => Ok(()),
            _ => Err((1, format!("{bytes} bytes of values for {} elements of {}", defined.npoints(), self.element))),
        }
    }

    /// The defined elements of a chunk.
    fn selection(&self, file: &OpenFile, address: u64, section: Section) -> Result<Space, String> {
        let size = usize::try_from(section.size).map_err(|why| why.to_string())?;
        let mut stored = vec![0; size];
        file.read_raw(CHUNK, vec![(address, stored.as_mut_slice())]).map_err(|why| why.to_string())?;
        let raw = match self.pipeline.steps().is_empty() {
            true => stored,
            false => {
                let len = usize::try_from(section.unfiltered.unwrap_or(0)).map_err(|why| why.to_string())?;
                let (mut out, mut scratch) = (Vec::new(), Vec::new());
                let decoded = self.pipeline.decode(self.registry, &stored, section.mask, len, &mut out, &mut scratch);
                decoded.map_err(|why| why.to_string())?;
                out
            }
        };
        let Some((encoded, checksum)) = raw.split_last_chunk::<CHECKSUM>() else {
            return Err(format!("{} bytes are too few for a checksum", raw.len()));
        };
        let [told, is] = [u32::from_le_bytes(*checksum), lookup3(encoded)];
        if told != is {
            return Err(format!("its checksum is {told:#010x}, but should be {is:#010x}"));
        }
        let space = Space::decode(encoded).map_err(|why| why.to_string())?;
        if space.dims() != self.chunk {
            return Err(format!("an extent of {:?}, but chunks have {:?}", space.dims(), self.chunk));
        }
        space.check_inside().map_err(|why| why.to_string())?;
        if space.kind() == Kind::Points {
            let mut numbers: Vec<u64> =
                space.runs(1).map_err(|why| why.to_string())?.flat_map(|run| run.offset..run.end()).collect();
            numbers.sort_unstable();
            if !numbers.is_sorted_by(|left, right| left < right) {
                return Err("an element is named twice".into());
            }
        }
        Ok(space)
    }
}
