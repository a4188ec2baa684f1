//! Chunked datasets: the pieces of a request, chunk by chunk.
//!
//! Chunks without filters go between file and caller directly, all pieces in one selection request. Filtered chunks are read with one
//! vector request per batch, decoded on all cores, and copied to their places.

use std::sync::Arc;

use hyperslab_file::OpenFile;
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{
    ChunkEntry,
    message::{ChunkIndex, Layout},
};
use hyperslab_space::{Extent, Grid, Piece, Space};
use rayon::prelude::*;

use crate::{Error, Index, Result, index::Shape, scatter};

/// The most stored bytes that are read at once before they are decoded.
const BATCH: u64 = 64 << 20;

/// A dataset in chunks.
#[derive(Debug)]
pub struct Chunked {
    grid: Grid,
    /// How chunks are found.
    pub index: Index,
    pipeline: Pipeline,
    registry: Arc<Registry>,
    /// Chunks that reach over the extent have no filters.
    plain_edges: bool,
    pub(crate) extent: Extent,
    element: u64,
    pub(crate) bytes: usize,
}

/// A piece and where its chunk is.
struct Located {
    piece: Piece,
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
        let Layout::Chunked { chunk, plain_edges, index, address, .. } = layout else {
            return Err(Error::Layout("it is not chunked".into()));
        };
        if chunk.len() != extent.rank() {
            return Err(Error::Layout(format!("a chunk of {chunk:?} in an extent of {:?}", extent.dims())));
        }
        let grid = Grid::new(chunk)?;
        let elements = Space::simple(chunk)?.npoints();
        let bytes = elements.checked_mul(element).ok_or(Error::Memory(u64::MAX))?;
        let filtered = !pipeline.steps().is_empty();
        let shape = Shape { extent, chunk, bytes, filtered, layout_version: version };
        let kind: ChunkIndex = *index;
        let index = Index::open(file, kind, *address, &shape)?;
        let bytes = usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?;
        Ok(Chunked {
            grid,
            index,
            pipeline,
            registry,
            plain_edges: *plain_edges,
            extent: extent.clone(),
            element,
            bytes,
        })
    }

    /// The shape of a chunk.
    pub fn chunk(&self) -> &[u64] {
        self.grid.chunk()
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
        let mut located = Vec::new();
        for piece in source.pieces(&self.grid, target)? {
            let piece = piece?;
            match self.index.find(file, &piece.chunk, self.grid.chunk())? {
                Some(entry) => {
                    let plain = self.pipeline.steps().is_empty() || (self.plain_edges && self.is_edge(&piece.chunk));
                    located.push(Located { piece, entry, coded: !plain });
                }
                None => scatter::fill(fill, buf, &piece.memory, self.element)?,
            }
        }
        let (coded, plain): (Vec<_>, Vec<_>) = located.into_iter().partition(|located| located.coded);
        self.read_plain(file, &plain, buf)?;
        let mut rest = coded.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0u64;
            let fits = |located: &&Located| {
                bytes = bytes.saturating_add(located.entry.size);
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
    fn is_edge(&self, place: &[u64]) -> bool {
        let sizes = self.grid.chunk().iter().zip(self.extent.dims());
        place.iter().zip(sizes).any(|(nth, (size, dim))| nth.saturating_add(1).saturating_mul(*size) > *dim)
    }

    /// All pieces as one request.
    fn read_plain(&self, file: &OpenFile, pieces: &[Located], buf: &mut [u8]) -> Result<()> {
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

    /// One vector request, decoded on all cores.
    fn read_coded(&self, file: &OpenFile, pieces: &[Located], buf: &mut [u8]) -> Result<()> {
        let mut stored: Vec<Vec<u8>> = Vec::with_capacity(pieces.len());
        for located in pieces {
            file.check("chunk", located.entry.address.unwrap_or(0), located.entry.size)?;
            stored.push(vec![0; usize::try_from(located.entry.size).unwrap_or(usize::MAX)]);
        }
        let parts = pieces
            .iter()
            .zip(&mut stored)
            .map(|(located, bytes)| (located.entry.address.unwrap_or(0), bytes.as_mut_slice()));
        file.read_raw("chunk", parts.collect())?;
        let decoded: Vec<Result<Vec<u8>>> =
            pieces.par_iter().zip(&stored).map(|(located, bytes)| self.decode(located, bytes)).collect();
        for (located, bytes) in pieces.iter().zip(decoded) {
            scatter::copy(&bytes?, &located.piece.file, buf, &located.piece.memory, self.element)?;
        }
        Ok(())
    }

    fn decode(&self, located: &Located, stored: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        out.try_reserve_exact(self.bytes).map_err(|_| Error::Memory(self.bytes as u64))?;
        let decoded =
            self.pipeline.decode(&self.registry, stored, located.entry.mask, self.bytes, &mut out, &mut Vec::new());
        decoded.map_err(|source| Error::Filter { chunk: located.piece.chunk.to_vec(), source })?;
        Ok(out)
    }
}
