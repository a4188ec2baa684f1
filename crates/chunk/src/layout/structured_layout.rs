//! What chunks of several sections have beside a shape.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{Sections, message::ChunkStructure};

use crate::{
    Error, Result,
    structured::{SectionCoder, SparseChunk},
};

/// The number of elements whose runs are counted.
const ELEMENTS: u64 = 1024;

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
    /// In how many runs so many of their elements were.
    runs: AtomicU64,
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
        Ok(StructuredLayout {
            structure,
            coders,
            plain,
            filters,
            fill,
            footprint: AtomicUsize::new(USUAL),
            runs: AtomicU64::new(ELEMENTS),
        })
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

    /// In how many runs so many elements of a chunk are, as those of others were, with some more to be safe.
    pub(crate) fn expected_runs(&self, elements: u64) -> u64 {
        let runs = elements.saturating_mul(self.runs.load(Ordering::Relaxed)) / ELEMENTS;
        runs.saturating_add(runs / 2).saturating_add(ELEMENTS).min(elements)
    }

    /// A chunk was loaded.
    pub(crate) fn count(&self, chunk: &SparseChunk) {
        let bytes = self.expected_bytes();
        self.footprint.store(bytes - bytes / 8 + chunk.memory() / 8, Ordering::Relaxed);
        let (runs, before) = (chunk.run_count() * ELEMENTS / chunk.count().max(1), self.runs.load(Ordering::Relaxed));
        self.runs.store(if runs > before { runs } else { before - before / 8 + runs / 8 }, Ordering::Relaxed);
    }
}
