//! Chunked datasets: the pieces of a request, chunk by chunk.
//!
//! Chunks without filters go between file and caller directly, all pieces in one selection request. Filtered chunks are read with one
//! vector request per batch, decoded on all cores, and copied to their places.

use std::sync::Arc;

use hyperslab_base::memory;
use hyperslab_driver::{
    cores,
    lower::{self, Band},
};
use hyperslab_file::OpenFile;
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{
    ChunkEntry,
    message::{ChunkIndex, Layout},
};
use hyperslab_space::{Coords, Extent, Grid, Kind, Piece, Space};

use crate::{Coder, Error, Index, Result, index::Shape, transfer::scatter};

/// The most bytes, stored or decoded, that are in memory at once.
pub(crate) const BATCH: u64 = 64 << 20;
/// The most pieces that are in memory at once: a small file can have more chunks than there is room for.
pub(crate) const PIECES: usize = 1 << 15;

/// A dataset in chunks.
#[derive(Debug)]
pub struct Chunked {
    pub(crate) grid: Grid,
    /// How chunks are found.
    pub index: Index,
    /// What the index is, or will be when it is made.
    pub(crate) kind: ChunkIndex,
    pub(crate) coder: Arc<Coder>,
    /// Chunks that reach over the extent have no filters.
    plain_edges: bool,
    pub(crate) extent: Extent,
    element: u64,
    pub(crate) bytes: usize,
    layout_version: u8,
}

/// A piece and where its chunk is.
pub(crate) struct Located<'a> {
    piece: &'a Piece,
    entry: ChunkEntry,
    /// Whether filters must be undone.
    coded: bool,
}

impl Chunked {
    /// Opens a chunked layout.
    pub fn open(
        file: &OpenFile,
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
        let grid = Grid::new(chunk)?;
        let elements = Space::simple(chunk)?.npoints();
        let bytes = elements.checked_mul(element).ok_or(Error::Memory(u64::MAX))?;
        let filtered = !pipeline.steps().is_empty();
        let shape = Shape { extent, chunk, bytes, element_size: element, filtered, layout_version: version };
        let kind: ChunkIndex = *index;
        let index = Index::open(file, kind, *address, &shape)?;
        let bytes = usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?;
        Ok(Chunked {
            grid,
            index,
            kind,
            coder: Arc::new(Coder::new(pipeline, registry, bytes)),
            plain_edges: *plain_edges,
            extent: extent.clone(),
            element,
            bytes,
            layout_version: version,
        })
    }

    /// Whether chunks that reach over the extent have no filters where others have.
    pub(crate) fn has_plain_edges(&self) -> bool {
        self.plain_edges && self.coder.filters()
    }

    /// What the layout message says now.
    pub fn layout(&self) -> Layout {
        let index = match (&self.index, self.kind) {
            (Index::Single(entry), ChunkIndex::Single(Some(_))) => ChunkIndex::Single(Some((entry.size, entry.mask))),
            (_, ChunkIndex::Single(Some(_))) => ChunkIndex::Single(Some((0, 0))),
            (_, kind) => kind,
        };
        Layout::Chunked {
            chunk: self.chunk().to_vec(),
            element_size: self.element,
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
            bytes: self.bytes as u64,
            element_size: self.element,
            filtered: self.coder.filters(),
            layout_version: self.layout_version,
        }
    }

    /// The shape of a chunk.
    pub fn chunk(&self) -> &[u64] {
        self.grid.chunk()
    }

    /// The bytes of an element.
    pub(crate) fn element(&self) -> u64 {
        self.element
    }

    /// The bytes of a chunk.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the selection of `source` into the selection of `target`.
    pub fn read(
        &self,
        file: &OpenFile,
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        if !self.coder.filters() && source.kind() == Kind::Points && target.kind() == Kind::All {
            return self.read_points(file, source, buf, fill);
        }
        if matches!(self.index, Index::Empty) {
            return scatter::fill(fill, buf, target, self.element);
        }
        if let Some(few) = self.few(file, source) {
            return self.read_few(file, &few, source, target, buf, fill);
        }
        let mut pieces = source.pieces(&self.grid, target)?;
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                return Ok(());
            }
            self.read_pieces(file, &next, buf, fill)?;
        }
    }

    pub(crate) fn read_pieces(
        &self,
        file: &OpenFile,
        pieces: &[Piece],
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let places: Vec<Coords> = pieces.iter().map(|piece| piece.chunk.clone()).collect();
        let entries = self.index.find_all(file, &places, self.grid.chunk())?;
        let mut located = Vec::with_capacity(pieces.len());
        for (piece, entry) in pieces.iter().zip(entries) {
            match entry {
                Some(entry) => located.push(self.located(file, piece, entry)?),
                None => scatter::fill(fill, buf, &piece.memory, self.element)?,
            }
        }
        self.read_located(file, located, buf)
    }

    /// A piece and its chunk, which must lie in the file.
    pub(crate) fn located<'a>(&self, file: &OpenFile, piece: &'a Piece, entry: ChunkEntry) -> Result<Located<'a>> {
        let coded = self.is_coded(&piece.chunk, &self.extent);
        let size = if coded { entry.size } else { self.bytes as u64 };
        file.check("chunk", entry.address.unwrap_or(0), size)?;
        Ok(Located { piece, entry, coded })
    }

    /// Whether a chunk of a dataset of this extent goes through the filters.
    pub(crate) fn is_coded(&self, place: &[u64], extent: &Extent) -> bool {
        self.coder.filters() && !(self.plain_edges && self.is_edge(place, extent))
    }

    pub(crate) fn read_located(&self, file: &OpenFile, located: Vec<Located<'_>>, buf: &mut [u8]) -> Result<()> {
        let (coded, plain): (Vec<_>, Vec<_>) = located.into_iter().partition(|located| located.coded);
        self.read_plain(file, &plain, buf)?;
        let mut rest = coded.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0u64;
            let fits = |located: &&Located<'_>| {
                bytes = bytes.saturating_add(located.entry.size.max(self.bytes as u64));
                bytes <= BATCH
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            self.read_coded(file, now, buf)?;
            rest = later;
        }
        Ok(())
    }

    /// Whether a chunk reaches over the extent.
    pub(crate) fn is_edge(&self, place: &[u64], extent: &Extent) -> bool {
        let sizes = self.grid.chunk().iter().zip(extent.dims());
        place.iter().zip(sizes).any(|(nth, (size, dim))| nth.saturating_add(1).saturating_mul(*size) > *dim)
    }

    /// All pieces as one request.
    fn read_plain(&self, file: &OpenFile, pieces: &[Located<'_>], buf: &mut [u8]) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let mut request = Vec::with_capacity(pieces.len());
        for located in pieces {
            let address = located.entry.address.unwrap_or(0);
            let offset = file.check("chunk", address, self.bytes as u64)?;
            let (memory, file) = (&located.piece.memory, &located.piece.file);
            request.push(hyperslab_driver::SelectionPair { memory, file, offset, element_size: self.element });
        }
        Ok(file.read_selection(&request, buf)?)
    }

    /// How many bytes the dataset needs of the chunk at a place: those up to its last element there.
    pub(crate) fn needed(&self, place: &[u64]) -> usize {
        let mut sides = place.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        let last = sides.try_fold(0u64, |at, (nth, (size, dim))| {
            let inside = dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
            at.checked_mul(*size)?.checked_add(inside.checked_sub(1)?)
        });
        let bytes = last.map_or(0, |last| last.saturating_add(1).saturating_mul(self.element));
        usize::try_from(bytes).unwrap_or(usize::MAX).min(self.bytes)
    }

    /// One vector request, then each chunk decoded and its values copied to their places, on all cores.
    fn read_coded(&self, file: &OpenFile, pieces: &[Located<'_>], buf: &mut [u8]) -> Result<()> {
        let mut total = 0u64;
        for located in pieces {
            total = total.saturating_add(located.entry.size);
        }
        let mut stored = memory::zeroed(total)?;
        let (mut parts, mut rest) = (Vec::with_capacity(pieces.len()), stored.as_mut_slice());
        for located in pieces {
            let size = usize::try_from(located.entry.size).unwrap_or(usize::MAX);
            let Some((now, later)) = std::mem::take(&mut rest).split_at_mut_checked(size) else { break };
            parts.push((located.entry.address.unwrap_or(0), now));
            rest = later;
        }
        file.read_raw("chunk", parts)?;
        let (mut coded, mut rest) = (Vec::with_capacity(pieces.len()), stored.as_slice());
        for located in pieces {
            let size = usize::try_from(located.entry.size).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at_checked(size).unwrap_or((rest, &[]));
            coded.push((located, now));
            rest = later;
        }
        self.decode_all(&coded, buf)
    }

    /// Decodes chunks and copies what is wanted of them.
    fn decode_all(&self, coded: &[(&Located<'_>, &[u8])], buf: &mut [u8]) -> Result<()> {
        let ranges: Vec<_> =
            coded.iter().map(|(located, _)| scatter::touched(&located.piece.memory, self.element)).collect();
        let bands = lower::bands(buf, &ranges);
        let work = |(room, scratch): &mut (Vec<u8>, Vec<u8>), Band { start, bytes, items }: Band<'_>| -> Result<()> {
            for (located, stored) in items.iter().filter_map(|&item| coded.get(item)) {
                let Piece { chunk, file, memory } = located.piece;
                self.coder.decode(chunk, stored, located.entry.mask, self.needed(chunk), room, scratch)?;
                scatter::copy_to_part(room, file, bytes, start as u64, memory, self.element)?;
            }
            Ok(())
        };
        if coded.len() == 1 || bands.len() >= cores::count() {
            return cores::map(bands, work).map(drop);
        }
        // Too few places to fill at once: the copying waits until all is decoded.
        let decode = |scratch: &mut Vec<u8>, (located, stored): &(&Located<'_>, &[u8])| -> Result<_> {
            let mut room = Vec::new();
            let (place, mask) = (&located.piece.chunk, located.entry.mask);
            self.coder.decode(place, stored, mask, self.needed(place), &mut room, scratch).map(|()| room)
        };
        let decoded = cores::map(coded.iter().collect(), decode)?;
        for ((located, _), bytes) in coded.iter().zip(decoded) {
            scatter::copy(&bytes, &located.piece.file, buf, &located.piece.memory, self.element)?;
        }
        Ok(())
    }
}
