//! What the chunks of a dataset are like. Nothing of it ever changes, so it is used while no lock is held.

use std::sync::Arc;

use hyperslab_format::Sections;
use hyperslab_space::{Coords, Grid, Kind, Piece, Space};

use super::structured_layout::StructuredLayout;
use crate::{
    Coder, Error, Result, StoredAs, StoredAt, WriteBuffer,
    structured::{ElementShape, SectionCoder, expected_memory, most_growth},
};

/// Of which kind the chunks of a dataset are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// All values are there.
    Dense,
    /// Only those that were written.
    Sparse,
}

/// What is loaded of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    All,
    /// Which elements are defined, without their values. A dense chunk has no such part, so all of it is loaded.
    Selection,
}

/// What the chunks of a dataset are like.
#[derive(Debug)]
pub struct ChunkLayout {
    /// How the dataset is cut; nothing if its values never are in the cache.
    grid: Option<Grid>,
    /// The bytes of an element.
    element: u64,
    /// What an element is.
    shape: Arc<ElementShape>,
    /// The bytes of all elements of a chunk.
    dense_bytes: usize,
    /// Whether an index says where chunks are.
    has_index: bool,
    /// The filters, if there are some.
    codec: Option<Coder>,
    /// Whether all chunks go through the filters, wherever the dataset ends.
    filters_all: bool,
    /// What chunks of several sections have beside that.
    structured: Option<StructuredLayout>,
}

impl ChunkLayout {
    /// Chunks that an index knows. Those that reach over the edge of the dataset may be stored without filters.
    pub(crate) fn chunked(grid: Grid, element: u64, bytes: usize, codec: Coder, plain_edges: bool) -> ChunkLayout {
        let codec = Some(codec).filter(Coder::filters);
        let filters_all = codec.is_some() && !plain_edges;
        ChunkLayout {
            grid: Some(grid),
            dense_bytes: bytes,
            has_index: true,
            codec,
            filters_all,
            ..ChunkLayout::uncut(element)
        }
    }

    /// Chunks of several sections, which an index knows. They would have so many bytes if they were dense.
    pub(crate) fn structured_chunks(
        grid: Grid,
        element: u64,
        bytes: usize,
        structured: StructuredLayout,
    ) -> ChunkLayout {
        let (shape, structured) = (structured.shape().clone(), Some(structured));
        let grid = Some(grid);
        ChunkLayout { grid, dense_bytes: bytes, has_index: true, shape, structured, ..ChunkLayout::uncut(element) }
    }

    /// Blocks of values that lie in one piece.
    pub(crate) fn blocks(grid: Grid, element: u64, bytes: usize) -> ChunkLayout {
        ChunkLayout { grid: Some(grid), dense_bytes: bytes, ..ChunkLayout::uncut(element) }
    }

    /// Values that never are in the cache.
    pub(crate) fn uncut(element: u64) -> ChunkLayout {
        let (grid, codec, structured, shape) = Default::default();
        ChunkLayout { grid, element, shape, dense_bytes: 0, has_index: false, codec, filters_all: false, structured }
    }

    /// Whether values can be in the cache.
    pub fn has_chunks(&self) -> bool {
        self.grid.is_some()
    }

    /// Whether all of the chunk at a coordinate is outside of a dataset of this size.
    pub fn is_outside(&self, coord: &[u64], dims: &[u64]) -> bool {
        coord.iter().zip(self.chunk().iter().zip(dims)).any(|(nth, (size, dim))| nth.saturating_mul(*size) >= *dim)
    }

    /// The elements of the chunk at a coordinate: the first and the last index of each dimension, also outside of the dataset.
    pub fn elements_of(&self, coord: &[u64]) -> (Coords, Coords) {
        let low: Coords = coord.iter().zip(self.chunk()).map(|(nth, size)| nth.saturating_mul(*size)).collect();
        let high = low.iter().zip(self.chunk()).map(|(first, size)| first.saturating_add(size - 1)).collect();
        (low, high)
    }

    /// Whether each chunk lies in the file as it is in memory, so that any part of it can be read and written in place. Only the direct path
    /// asks this, and the cache to know whether the direct path is as good.
    pub fn is_addressable(&self) -> bool {
        self.structured.is_none() && self.codec.is_none()
    }

    /// As [`ChunkLayout::is_addressable`], of one stored chunk. Chunks at the edge of a dataset may have no filters where others have.
    pub(crate) fn is_addressable_at(&self, at: &StoredAt) -> bool {
        self.structured.is_none() && !at.filtered
    }

    /// As [`ChunkLayout::is_addressable`], of a chunk that is stored so.
    pub(crate) fn is_addressable_as(&self, form: StoredAs) -> bool {
        self.structured.is_none() && form != StoredAs::Filtered
    }

    /// Of which kind the chunks are in memory.
    pub fn kind(&self) -> ChunkKind {
        if self.structured.is_some() { ChunkKind::Sparse } else { ChunkKind::Dense }
    }

    /// What chunks of several sections have beside a shape.
    pub(crate) fn structured(&self) -> Option<&StructuredLayout> {
        self.structured.as_ref()
    }

    /// The same; an error if chunks are one piece each.
    pub(crate) fn sections(&self) -> Result<&StructuredLayout> {
        self.structured().ok_or_else(|| Error::Layout("chunks without sections".into()))
    }

    pub(crate) fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// The shape of a chunk.
    pub(crate) fn chunk(&self) -> &[u64] {
        self.grid.as_ref().map_or(&[], Grid::chunk)
    }

    /// Whether chunks tell which of their elements are defined.
    pub(crate) fn has_selections(&self) -> bool {
        self.structured.as_ref().is_some_and(|structured| structured.structure().is_sparse())
    }

    /// Whether chunks tell which of their elements are defined, and no filter is missing to read that.
    pub(crate) fn can_select(&self) -> bool {
        let coder = self.structured.as_ref().and_then(|structured| structured.coder(0, true));
        self.has_selections() && coder.is_some_and(SectionCoder::has_all_filters)
    }

    /// Whether chunks have values of variable length in them.
    pub(crate) fn has_vlen(&self) -> bool {
        !self.shape.slots.is_empty()
    }

    /// What an element is.
    pub(crate) fn shape(&self) -> &Arc<ElementShape> {
        &self.shape
    }

    /// The bytes of an element.
    pub(crate) fn element(&self) -> u64 {
        self.element
    }

    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> u64 {
        self.dense_bytes as u64 / self.element.max(1)
    }

    /// The bytes of all elements of a chunk, as a dense one has them in memory.
    pub(crate) fn dense_bytes(&self) -> usize {
        self.dense_bytes
    }

    /// About how many bytes the values of a chunk take in memory. A chunk may have more or fewer.
    pub(crate) fn expected_bytes(&self) -> usize {
        self.structured.as_ref().map_or(self.dense_bytes, StructuredLayout::expected_bytes)
    }

    /// About how many bytes a part of a stored chunk takes in memory, as its index and others of the dataset tell.
    pub(crate) fn expected_bytes_of(&self, part: Part, sections: &Sections) -> u64 {
        match &self.structured {
            None => self.dense_bytes as u64,
            Some(structured) => expected_memory(structured, sections, (self.element, self.elements()), part),
        }
    }

    /// Where a part of a stored chunk is.
    pub(crate) fn part_of(&self, part: Part, at: &StoredAt) -> Option<StoredAt> {
        match (self.kind(), part) {
            (ChunkKind::Sparse, Part::Selection) if self.has_selections() => at.sections(0..1),
            _ => Some(at.clone()),
        }
    }

    /// About how many bytes a chunk takes in memory when so many bytes of values come to what is stored of it.
    pub(crate) fn expected_bytes_with(&self, stored: Option<&Sections>, new: u64) -> u64 {
        match self.kind() {
            ChunkKind::Dense => self.dense_bytes as u64,
            ChunkKind::Sparse => {
                let expected = stored.map_or(0, |stored| self.expected_bytes_of(Part::All, stored)).saturating_add(new);
                // A chunk that is not sparse is stored with all its elements.
                if self.has_selections() { expected } else { expected.max(self.dense_bytes as u64) }
            }
        }
    }

    /// The most bytes that a chunk takes more when a piece of it is written.
    pub(crate) fn most_new_bytes(&self, piece: &Piece, from: WriteBuffer<'_>) -> Result<u64> {
        match self.kind() {
            ChunkKind::Dense => Ok(0),
            ChunkKind::Sparse => most_growth(self, piece, from),
        }
    }

    pub(crate) fn has_index(&self) -> bool {
        self.has_index
    }

    /// Whether some chunks go through filters.
    pub(crate) fn filters(&self) -> bool {
        self.codec.is_some() || self.structured.as_ref().is_some_and(StructuredLayout::filters)
    }

    /// The filters of dense chunks, if there are some.
    pub(crate) fn codec(&self) -> Option<&Coder> {
        self.codec.as_ref()
    }

    /// The filters, if all chunks go through them wherever the dataset ends.
    pub(crate) fn codec_of_all(&self) -> Option<&Coder> {
        self.codec().filter(|_| self.filters_all)
    }

    /// All elements of a chunk.
    pub(crate) fn whole(&self) -> Result<Space> {
        Ok(Space::simple(self.chunk())?)
    }

    /// Whether a piece is all of its chunk.
    pub(crate) fn is_whole(&self, piece: &Piece) -> bool {
        covers(piece, self.elements())
    }

    /// The bytes of what is selected.
    pub(crate) fn selected(&self, selection: &Space) -> u64 {
        selection.npoints().saturating_mul(self.element)
    }
}

/// Whether values go to so many different elements of a chunk; points may name one twice.
pub(crate) fn covers(piece: &Piece, elements: u64) -> bool {
    piece.file.kind() != Kind::Points && piece.file.npoints() == elements
}
