//! Chunked datasets: their chunks, and the index that finds them.

use std::sync::Arc;

use hyperslab_file::{OpenFile, Owned, Owner};
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{
    ChunkEntry,
    message::{ChunkIndex, Layout},
};
use hyperslab_space::{Extent, Grid, Space};

use crate::{ChunkCoord, ChunkLayout, Coder, Error, Index, Result, Sections, StoredAs, StoredAt, index::Shape};

/// A dataset in chunks.
#[derive(Debug)]
pub struct Chunked {
    pub(crate) grid: Grid,
    /// How chunks are found.
    pub index: Index,
    /// What the index is, or will be when it is made.
    pub(crate) kind: ChunkIndex,
    /// What the chunks are like.
    pub(crate) chunks: Arc<ChunkLayout>,
    /// Chunks that reach over the extent have no filters.
    plain_edges: bool,
    pub(crate) extent: Extent,
    layout_version: u8,
    /// How often the index or the extent was changed: what was found before may be wrong since.
    pub(crate) generation: u64,
    /// The dataset, if it has an address yet.
    owner: Owner,
}

impl Chunked {
    /// Opens a chunked layout.
    pub fn open<'f>(
        file: impl Into<Owned<'f>>,
        layout: &Layout,
        version: u8,
        extent: &Extent,
        element: u64,
        pipeline: Pipeline,
        registry: Arc<Registry>,
    ) -> Result<Chunked> {
        let Layout::Chunked { chunk, element_size, plain_edges, index, address } = layout else {
            return Err(Error::Layout("it is not chunked".into()));
        };
        if chunk.len() != extent.rank() {
            return Err(Error::Layout(format!("a chunk of {chunk:?} in an extent of {:?}", extent.dims())));
        }
        if *element_size != element {
            let why = format!("chunks of elements of {element_size} bytes, but the type has {element}");
            return Err(Error::Layout(why));
        }
        let (file, grid) = (file.into(), Grid::new(chunk)?);
        let elements = Space::simple(chunk)?.npoints();
        let bytes = elements.checked_mul(element).ok_or(Error::Memory(u64::MAX))?;
        let filtered = !pipeline.steps().is_empty();
        let (owner, layout_version) = (file.owner(), version);
        let shape = Shape { extent, chunk, bytes, element_size: element, filtered, layout_version, owner };
        let kind: ChunkIndex = *index;
        let index = Index::open(&file, kind, *address, &shape)?;
        let bytes = usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?;
        let codec = Coder::new(pipeline, registry, bytes);
        let chunks = Arc::new(ChunkLayout::chunked(grid.clone(), element, bytes, codec, *plain_edges));
        let (plain_edges, extent) = (*plain_edges, extent.clone());
        Ok(Chunked { grid, index, kind, chunks, plain_edges, extent, layout_version, generation: 0, owner })
    }

    /// Whether chunks that reach over the extent have no filters where others have.
    pub(crate) fn has_plain_edges(&self) -> bool {
        self.plain_edges && self.has_filters()
    }

    /// Whether chunks go through filters, some at least.
    pub(crate) fn has_filters(&self) -> bool {
        self.chunks.codec().is_some()
    }

    /// What the layout message says now.
    pub fn layout(&self) -> Layout {
        let index = match (&self.index, self.kind) {
            (Index::Single(entry), ChunkIndex::Single(Some(_))) => {
                ChunkIndex::Single(Some((entry.size(), entry.mask())))
            }
            (_, ChunkIndex::Single(Some(_))) => ChunkIndex::Single(Some((0, 0))),
            (_, kind) => kind,
        };
        Layout::Chunked {
            chunk: self.chunk().to_vec(),
            element_size: self.element(),
            plain_edges: self.plain_edges,
            index,
            address: self.index.address(),
        }
    }

    /// What an index of these chunks is made with.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape {
            extent: &self.extent,
            chunk: self.grid.chunk(),
            bytes: self.bytes() as u64,
            element_size: self.element(),
            filtered: self.has_filters(),
            layout_version: self.layout_version,
            owner: self.owner,
        }
    }

    /// The shape of a chunk.
    pub fn chunk(&self) -> &[u64] {
        self.grid.chunk()
    }

    /// The bytes of an element.
    pub(crate) fn element(&self) -> u64 {
        self.chunks.element()
    }

    /// The bytes of a chunk that goes through no filters.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.dense_bytes()
    }

    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> u64 {
        self.chunks.elements()
    }

    /// Where the chunks at rising coordinates are; nothing for those that were never written.
    pub(crate) fn locate(&self, file: &OpenFile, coords: &[ChunkCoord]) -> Result<Vec<Option<StoredAt>>> {
        let entries = self.index.find_all(file, coords, self.chunk())?;
        let located = coords.iter().zip(entries);
        located.map(|(coord, entry)| entry.map_or(Ok(None), |entry| self.stored_at(file, coord, &entry))).collect()
    }

    /// Where a chunk is, which must lie in the file.
    pub(crate) fn stored_at(&self, file: &OpenFile, coord: &[u64], entry: &ChunkEntry) -> Result<Option<StoredAt>> {
        let Some(address) = entry.address else { return Ok(None) };
        let filtered = self.is_filtered(coord, &self.extent);
        let (sections, needed) = match filtered {
            true => (entry.sections.clone(), self.needed(coord)),
            false => (Sections::one(self.bytes() as u64, entry.mask()), 0),
        };
        file.check("chunk", address, sections.bytes())?;
        Ok(Some(StoredAt { address, sections, filtered, needed }))
    }

    /// Whether a chunk of a dataset of this extent goes through the filters.
    pub(crate) fn is_filtered(&self, coord: &[u64], extent: &Extent) -> bool {
        self.has_filters() && !(self.plain_edges && self.is_edge(coord, extent))
    }

    /// How a chunk of a dataset of this extent is stored.
    pub(crate) fn stored_as(&self, coord: &[u64], extent: &Extent) -> StoredAs {
        if self.is_filtered(coord, extent) { StoredAs::Filtered } else { StoredAs::Plain(self.bytes() as u64) }
    }

    /// How many elements of a chunk are in the dataset.
    pub(crate) fn inside(&self, coord: &[u64]) -> u64 {
        let sides = coord.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
        sides.map(side).product()
    }

    /// Whether a chunk reaches over the extent.
    fn is_edge(&self, coord: &[u64], extent: &Extent) -> bool {
        let sizes = self.grid.chunk().iter().zip(extent.dims());
        coord.iter().zip(sizes).any(|(nth, (size, dim))| nth.saturating_add(1).saturating_mul(*size) > *dim)
    }

    /// How many bytes the dataset needs of a chunk: those up to its last element there.
    fn needed(&self, coord: &[u64]) -> usize {
        let mut sides = coord.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        let last = sides.try_fold(0u64, |at, (nth, (size, dim))| {
            let inside = dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
            at.checked_mul(*size)?.checked_add(inside.checked_sub(1)?)
        });
        let bytes = last.map_or(0, |last| last.saturating_add(1).saturating_mul(self.element()));
        usize::try_from(bytes).unwrap_or(usize::MAX).min(self.bytes())
    }
}
