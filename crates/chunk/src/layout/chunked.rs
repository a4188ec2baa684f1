//! Chunked datasets: their chunks, and the index that finds them.

use std::sync::Arc;

use hyperslab_base::memory;
use hyperslab_file::{OpenFile, Owned, Owner};
use hyperslab_filter::Registry;
use hyperslab_format::{
    ChunkEntry,
    message::{AllocTime, ChunkIndex, ChunkStructure, Layout},
};
use hyperslab_space::{Extent, Grid, Space};

use super::structured_layout::{StructuredLayout, Undefined};
use crate::{
    ChunkCoord, ChunkFilters, ChunkLayout, Coder, ElementShape, Error, Filling, Index, Result, Sections, StoredAs,
    StoredAt, index::Shape,
};

/// What a dataset in chunks is opened with.
#[derive(Debug)]
pub struct ChunkedParts<'a> {
    /// The layout message, and its version.
    pub layout: &'a Layout,
    /// The version of the layout message.
    pub version: u8,
    /// The size of the dataset.
    pub extent: &'a Extent,
    /// The bytes of an element.
    pub element: u64,
    /// What chunks go through.
    pub filters: ChunkFilters,
    /// The filters that there are.
    pub registry: Arc<Registry>,
    /// The value of elements that are not defined; zeros if nothing.
    pub fill: Option<&'a [u8]>,
    /// What is of variable length in elements, if their chunks have it.
    pub vlen: VlenParts,
}

/// What is of variable length in the elements of structured chunks.
#[derive(Clone, Debug, Default)]
pub struct VlenParts {
    /// The bytes of an element as it is in other datasets, which some programs say instead.
    pub element: u64,
    /// The first byte of each slot in an element, rising.
    pub slots: Vec<usize>,
    /// What the slots of the fill value name.
    pub fill_heap: Vec<u8>,
}

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
    /// The bytes of an element that the layout message tells.
    element_size: u64,
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
    pub fn open<'f>(file: impl Into<Owned<'f>>, parts: ChunkedParts<'_>) -> Result<Chunked> {
        let ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen } = parts;
        let Layout::Chunked { structure, chunk, element_size, plain_edges, index, address } = layout else {
            return Err(Error::Layout("it is not chunked".into()));
        };
        if chunk.len() != extent.rank() {
            return Err(Error::Layout(format!("a chunk of {chunk:?} in an extent of {:?}", extent.dims())));
        }
        check_element_size(*element_size, *structure, (element, vlen.element)).map_err(Error::Layout)?;
        let (file, grid) = (file.into(), Grid::new(chunk)?);
        let elements = Space::simple(chunk)?.npoints();
        let bytes = elements.checked_mul(element).ok_or(Error::Memory(u64::MAX))?;
        // Entries of the index are as wide as the program made them that wrote the message.
        let told_bytes = elements.checked_mul(*element_size).ok_or(Error::Memory(u64::MAX))?;
        let dense_bytes = usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?;
        let chunks = match (*structure, filters) {
            (None, ChunkFilters::Chunk(pipeline)) => {
                let codec = Coder::new(pipeline, registry, dense_bytes);
                ChunkLayout::chunked(grid.clone(), element, dense_bytes, codec, *plain_edges)
            }
            (None, _) => return Err(Error::Layout("filters of sections, but chunks without sections".into())),
            (Some(structure), filters) => {
                check_elements(elements)?;
                let size = usize::try_from(element).map_err(|_| Error::Memory(element))?;
                let shape = Arc::new(ElementShape { size, slots: vlen.slots });
                let undefined = Undefined { fixed: filled(fill, element)?, heap: vlen.fill_heap };
                let structured = (structure, shape, undefined);
                let chunks = (&**chunk, told_bytes);
                let structured = StructuredLayout::new(structured, &filters.of_sections()?, &registry, chunks)?;
                ChunkLayout::structured_chunks(grid.clone(), element, dense_bytes, structured)
            }
        };
        let chunks = Arc::new(chunks);
        let (owner, layout_version, filtered) = (file.owner(), version, chunks.filters());
        let (structure, element_size) = (*structure, *element_size);
        let shape =
            Shape { extent, chunk, bytes: told_bytes, element_size, filtered, structure, layout_version, owner };
        let kind = index.clone();
        let index = Index::open(&file, &kind, *address, &shape)?;
        let (plain_edges, extent) = (*plain_edges, extent.clone());
        let generation = 0;
        Ok(Chunked { grid, index, kind, chunks, element_size, plain_edges, extent, layout_version, generation, owner })
    }

    /// Whether chunks that reach over the extent have no filters where others have.
    pub(crate) fn has_plain_edges(&self) -> bool {
        self.plain_edges && self.has_filters()
    }

    /// Whether chunks go through filters, some at least.
    pub(crate) fn has_filters(&self) -> bool {
        self.chunks.filters()
    }

    /// What the layout message says now.
    pub fn layout(&self) -> Layout {
        let index = match (&self.index, &self.kind) {
            (Index::Single(entry), ChunkIndex::Single(Some(_))) => ChunkIndex::Single(Some(entry.sections.clone())),
            (_, ChunkIndex::Single(Some(_))) => ChunkIndex::Single(Some(self.nowhere().sections)),
            (_, kind) => kind.clone(),
        };
        Layout::Chunked {
            structure: self.structure(),
            chunk: self.chunk().to_vec(),
            element_size: self.element_size,
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
            bytes: self.elements().saturating_mul(self.element_size),
            element_size: self.element_size,
            filtered: self.has_filters(),
            structure: self.structure(),
            layout_version: self.layout_version,
            owner: self.owner,
        }
    }

    /// What chunks of several sections hold; nothing for dense chunks.
    pub fn structure(&self) -> Option<ChunkStructure> {
        self.chunks.structured().map(StructuredLayout::structure)
    }

    /// When chunks get their space: those of which only defined elements are stored, when they have some.
    pub(crate) fn alloc_time(&self, filling: &Filling<'_>) -> AllocTime {
        if self.structure().is_some() { AllocTime::Incremental } else { filling.alloc }
    }

    /// What the index says of a chunk that is nowhere.
    pub(crate) fn nowhere(&self) -> ChunkEntry {
        let sections = self.chunks.structured().map_or(Sections::one(0, 0), StructuredLayout::nothing);
        ChunkEntry::new(None, sections)
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
            _ if self.structure().is_some() => (entry.sections.clone(), 0),
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
        self.sides_inside(coord).product()
    }

    /// How many elements of a chunk are in the dataset, by dimension.
    pub(crate) fn sides_inside(&self, coord: &[u64]) -> impl Iterator<Item = u64> {
        let sides = coord.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        sides.map(|(nth, (size, dim))| dim.saturating_sub(nth.saturating_mul(*size)).min(*size))
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

/// Refuses a layout message that tells another size of an element than the type has in chunks; where these have what is of variable length, some programs tell the type's own. Readers
/// and checks of a file both ask this.
pub(crate) fn check_element_size(
    told: u64,
    structure: Option<ChunkStructure>,
    (in_chunks, own): (u64, u64),
) -> Result<(), String> {
    let is_own = structure.is_some_and(ChunkStructure::has_vlen) && told == own;
    match told == in_chunks || is_own {
        true => Ok(()),
        false => Err(format!("chunks of elements of {told} bytes, but the type has {in_chunks}")),
    }
}

/// Refuses chunks with more elements than a structured one can have.
fn check_elements(elements: u64) -> Result<()> {
    match elements > u64::from(u32::MAX) {
        true => Err(Error::Layout(format!("a structured chunk of {elements} elements, more than 2^32 - 1"))),
        false => Ok(()),
    }
}

/// One element of the fill value.
fn filled(fill: Option<&[u8]>, element: u64) -> Result<Vec<u8>> {
    Ok(match fill.filter(|fill| fill.len() as u64 == element) {
        Some(fill) => memory::copied(fill)?,
        None => memory::zeroed(element)?,
    })
}
