//! Sparse chunks: what tells which elements are defined is read, and held against the values that there are. Values are not read.

use std::sync::Arc;

use hyperslab_chunk::{Chunked, ChunkedParts, Error, VlenParts};
use hyperslab_dtype::{Datatype, Nesting};
use hyperslab_file::{OpenFile, Survey};
use hyperslab_filter::Registry;
use hyperslab_format::message::{DataLayout, DatasetFilters, Layout};
use hyperslab_space::Extent;

/// What a finding calls a chunk.
const CHUNK: &str = "chunk";
/// What section 0 tells.
const SELECTION: &str = "which elements are defined";

/// A dataset with structured chunks, as its header tells of it.
pub(crate) struct SparseDataset<'a> {
    pub(crate) address: u64,
    pub(crate) layout: &'a DataLayout,
    pub(crate) extent: &'a Extent,
    pub(crate) datatype: &'a Datatype,
    /// The bytes of an element in its chunks.
    pub(crate) element: u64,
    pub(crate) filters: &'a DatasetFilters,
}

impl SparseDataset<'_> {
    /// Reads the selection of each chunk. What the index or the header contradict is told of when they are surveyed. Chunks behind filters that are not known here stay
    /// unread.
    pub(crate) fn survey(&self, file: &OpenFile, survey: &mut dyn Survey) {
        let Layout::Chunked { structure: Some(_), .. } = self.layout.layout else { return };
        let Some(chunked) = self.open(file) else { return };
        // What is wrong with the index was told of with it.
        let _ = chunked.check_selections(file, &mut |address, why| match why {
            Error::Section { chunk, section, why } => {
                let what = if section == 0 { SELECTION } else { "values" };
                survey.problem(CHUNK, address, format!("section {section} ({what}) of chunk {chunk:?}: {why}"));
            }
            Error::SectionFilter { chunk, section, source } => {
                survey.problem(CHUNK, address, format!("section {section} ({SELECTION}) of chunk {chunk:?}: {source}"));
            }
            why => survey.problem(CHUNK, address, why.to_string()),
        });
    }

    fn open(&self, file: &OpenFile) -> Option<Chunked> {
        let (layout, version) = (&self.layout.layout, self.layout.version);
        let (extent, element, registry) = (self.extent, self.element, Arc::new(Registry::default()));
        let (filters, fill) = (hyperslab_chunk::filters(self.filters).ok()?, None);
        let slots = Nesting::of(self.datatype).map(|nesting| nesting.slots().collect()).unwrap_or_default();
        let vlen = VlenParts { element: self.datatype.size() as u64, slots, ..VlenParts::default() };
        let parts = ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen };
        Chunked::open(file.owned_by(self.address), parts).ok()
    }
}
