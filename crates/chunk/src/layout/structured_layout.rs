//! What chunks of several sections have beside a shape.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{Sections, message::ChunkStructure};

use crate::{Error, Result, structured::SectionCoder};

/// Chunks of which nothing is known yet are expected to take so many bytes in memory.
const USUAL: usize = 64 << 10;

/// What chunks of several sections have beside a shape.
#[derive(Debug)]
pub(crate) struct StructuredLayout {
    structure: ChunkStructure,
    /// The filters of each section.
    coders: [SectionCoder; 2],
    /// The same sections, without filters.
    plain: [SectionCoder; 2],
    filters: bool,
    /// The value of elements that are not defined.
    fill: Vec<u8>,
    /// What chunks took in memory, on average of late.
    footprint: AtomicUsize,
}

impl StructuredLayout {
    /// For sparse chunks of elements of fixed size, whose sections go through these filters.
    pub(crate) fn new(
        structure: ChunkStructure,
        pipelines: &[Pipeline],
        registry: &Arc<Registry>,
        fill: Vec<u8>,
    ) -> Result<StructuredLayout> {
        if structure != ChunkStructure::Sparse {
            let why = "chunks with sections of variable length are not supported yet";
            return Err(Error::Layout(why.into()));
        }
        let filters = pipelines.iter().any(|pipeline| !pipeline.steps().is_empty());
        let pipeline = |number: usize| pipelines.get(number).cloned().unwrap_or_default();
        let coder = |number| SectionCoder::new(number, pipeline(number), registry.clone());
        let plain = |number| SectionCoder::new(number, Pipeline::default(), registry.clone());
        let (coders, plain) = ([coder(0), coder(1)], [plain(0), plain(1)]);
        Ok(StructuredLayout { structure, coders, plain, filters, fill, footprint: AtomicUsize::new(USUAL) })
    }

    pub(crate) fn structure(&self) -> ChunkStructure {
        self.structure
    }

    /// Whether a section has filters.
    pub(crate) fn filters(&self) -> bool {
        self.filters
    }

    /// The filters of each section, of a chunk that goes through them or not.
    pub(crate) fn coders(&self, filtered: bool) -> &[SectionCoder; 2] {
        if filtered { &self.coders } else { &self.plain }
    }

    /// The value of elements that are not defined.
    pub(crate) fn fill(&self) -> &[u8] {
        &self.fill
    }

    /// The sections of a chunk that is nowhere.
    pub(crate) fn nothing(&self) -> Sections {
        Sections::nothing(self.structure.sections(), self.filters)
    }

    /// What a chunk takes in memory, as others did.
    pub(crate) fn expected_bytes(&self) -> usize {
        self.footprint.load(Ordering::Relaxed)
    }

    /// A chunk took so much.
    pub(crate) fn count(&self, bytes: usize) {
        let before = self.expected_bytes();
        self.footprint.store(before - before / 8 + bytes / 8, Ordering::Relaxed);
    }
}
