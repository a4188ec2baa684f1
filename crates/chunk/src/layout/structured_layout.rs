//! What chunks of several sections have beside a shape.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{Sections, message::ChunkStructure};

use crate::{
    Error, Result,
    structured::{CHECKSUM, ElementShape, PackedValues, SectionCoder, SparseChunk, most_sparse_sizes},
};

/// The number of elements whose runs are counted.
const ELEMENTS: u64 = 1024;

/// Chunks of which nothing is known yet are expected to take so many bytes in memory.
const USUAL: usize = 64 << 10;

/// The value of elements that are not defined.
#[derive(Clone, Debug)]
pub(super) struct Undefined {
    pub(super) fixed: Vec<u8>,
    /// What is of variable length in it.
    pub(super) heap: Vec<u8>,
}

/// What chunks of several sections have beside a shape.
#[derive(Debug)]
pub(crate) struct StructuredLayout {
    structure: ChunkStructure,
    /// The filters of each section.
    coders: Vec<SectionCoder>,
    /// The same sections, without filters.
    plain: Vec<SectionCoder>,
    filters: bool,
    /// The most bytes of a stored chunk that its index can tell.
    most: u64,
    /// Whether that is enough for any chunk.
    fits_any: bool,
    shape: Arc<ElementShape>,
    undefined: Undefined,
    /// What chunks took in memory, on average of late.
    footprint: AtomicUsize,
    /// In how many runs so many of their elements were.
    runs: AtomicU64,
}

impl StructuredLayout {
    /// For chunks of these sides whose sections go through these filters. Their index tells sizes as of chunks with so many bytes if they were dense.
    pub(super) fn new(
        (structure, shape, undefined): (ChunkStructure, Arc<ElementShape>, Undefined),
        pipelines: &[Pipeline],
        registry: &Arc<Registry>,
        (chunk, dense_bytes): (&[u64], u64),
    ) -> Result<StructuredLayout> {
        if structure.has_vlen() == shape.slots.is_empty() {
            let has = if structure.has_vlen() {
                "sections of variable length, but not its type"
            } else {
                "no section for the values of variable length of its type"
            };
            return Err(Error::Layout(format!("the dataset has {has}")));
        }
        let filters = pipelines.iter().any(|pipeline| !pipeline.steps().is_empty());
        let most = structure.size_width(dense_bytes).max();
        let pipeline = |number: usize| pipelines.get(number).cloned().unwrap_or_default();
        let numbers = 0..usize::from(structure.sections());
        let coders = numbers.clone().map(|number| SectionCoder::new(number, pipeline(number), registry.clone()));
        let plain = numbers.map(|number| SectionCoder::new(number, Pipeline::default(), registry.clone()));
        let (coders, plain) = (coders.collect(), plain.collect());
        let (footprint, runs) = (AtomicUsize::new(USUAL), AtomicU64::new(ELEMENTS));
        let fits_any = most == u64::MAX;
        let mut layout =
            StructuredLayout { structure, coders, plain, filters, most, fits_any, shape, undefined, footprint, runs };
        if !structure.has_vlen() {
            let all = chunk.iter().fold(1, |all: u64, side| all.saturating_mul(*side));
            let sizes = most_sparse_sizes(all, (chunk.len(), layout.shape.size as u64), 0);
            layout.fits_any |= layout.fits_index(sizes);
        }
        Ok(layout)
    }

    /// What an element is.
    pub(crate) fn shape(&self) -> &Arc<ElementShape> {
        &self.shape
    }

    /// The number of the section that has the values.
    pub(crate) fn fixed(&self) -> usize {
        usize::from(self.structure.is_sparse())
    }

    /// The number of the section that has what is of variable length, if there is one.
    pub(crate) fn vlen(&self) -> Option<usize> {
        self.structure.has_vlen().then(|| self.fixed() + 1)
    }

    /// Whether a section ends with a checksum.
    pub(crate) fn has_checksum(&self, number: usize) -> bool {
        self.structure.checksummed().iter().any(|checksummed| usize::from(*checksummed) == number)
    }

    /// How many elements a stored chunk has, as its index tells.
    pub(crate) fn stored_elements(&self, sections: &Sections, element: u64) -> u64 {
        self.stored_bytes(sections, self.fixed()) / element.max(1)
    }

    /// The bytes of what is of variable length in a stored chunk, as its index tells.
    pub(crate) fn stored_heap(&self, sections: &Sections) -> u64 {
        self.vlen().map_or(0, |number| self.stored_bytes(sections, number))
    }

    /// The bytes of a section before its filters and without its checksum.
    pub(crate) fn stored_bytes(&self, sections: &Sections, number: usize) -> u64 {
        let checksum = if self.has_checksum(number) { CHECKSUM as u64 } else { 0 };
        let bytes = sections.get(number).map_or(0, |section| section.unfiltered.unwrap_or(section.size));
        bytes.saturating_sub(checksum)
    }

    /// Whether the index has room for any chunk: it tells any size, or none is larger, whatever its filters make of it.
    pub(crate) fn fits_any_chunk(&self) -> bool {
        self.fits_any
    }

    /// Whether the index has room for a chunk whose sections have no more than these bytes before their filters, whatever these make of them.
    pub(crate) fn fits_index(&self, sizes: impl IntoIterator<Item = u64>) -> bool {
        let mut sections = self.coders.iter().zip(sizes);
        match sections.try_fold(0u64, |all, (coder, size)| Some(all.saturating_add(coder.worst_case(size)?))) {
            Some(stored) => stored <= self.most,
            // Without values of variable length the index has room for 256 times what a dense chunk has.
            None => !self.structure.has_vlen(),
        }
    }

    pub(crate) fn structure(&self) -> ChunkStructure {
        self.structure
    }

    /// Whether a section has filters.
    pub(crate) fn filters(&self) -> bool {
        self.filters
    }

    /// The filters of a section, of a chunk that goes through them or not.
    pub(crate) fn coder(&self, number: usize, filtered: bool) -> Option<&SectionCoder> {
        if filtered { self.coders.get(number) } else { self.plain.get(number) }
    }

    /// The value of elements that are not defined.
    pub(crate) fn fill(&self) -> PackedValues<'_> {
        PackedValues { fixed: &self.undefined.fixed, heap: &self.undefined.heap }
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
        if chunk.is_complete() {
            let bytes = self.expected_bytes();
            self.footprint.store(bytes - bytes / 8 + chunk.memory() / 8, Ordering::Relaxed);
        }
        let (runs, before) = (chunk.run_count() * ELEMENTS / chunk.count().max(1), self.runs.load(Ordering::Relaxed));
        self.runs.store(if runs > before { runs } else { before - before / 8 + runs / 8 }, Ordering::Relaxed);
    }
}
