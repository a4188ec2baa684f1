//! What the cache knows of a layout. Every callback of the design has its place here, in [`Coder`] or in the chunk itself; the table is in
//! `docs/chunk-cache.md`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_file::OpenFile;
use hyperslab_space::{Coords, Grid, Kind, Piece, Space};

use crate::{
    Coder, Filling, Result,
    cache::{Earned, Gathered, Track},
    transfer::publish::Reserved,
};

/// What never changes of a layout.
#[derive(Debug)]
pub struct Facts {
    /// How the dataset is cut; nothing if its values never are in the cache.
    pub(crate) grid: Option<Grid>,
    /// The bytes of an element.
    pub(crate) element: u64,
    /// The bytes of a chunk in memory.
    pub(crate) bytes: usize,
    /// Whether an index says where chunks are.
    pub(crate) has_index: bool,
    /// How chunks are coded, if they are.
    pub(crate) coder: Option<Arc<Coder>>,
    /// Whether all chunks are coded, wherever the dataset ends.
    pub(crate) codes_all: bool,
    /// What was used of chunks without filters.
    pub(crate) earned: Earned,
    /// Chunks without filters that wait for each other.
    pub(crate) gathered: Gathered,
    /// Where reads of filtered chunks went.
    pub(crate) track: Track,
    /// Whether a chunk went through the filters already, so that others will, too, when they are written later.
    proven: AtomicBool,
}

/// A chunk as the file will have it.
pub struct Image<'a> {
    /// Its place in the grid.
    pub place: Coords,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The filters that were left out.
    pub mask: u32,
    /// Whether it went through the filters.
    pub coded: bool,
}

/// Where a chunk is stored, and how.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// Its first byte.
    pub address: u64,
    /// How many bytes are stored.
    pub size: u64,
    /// The filters that were left out.
    pub mask: u32,
    /// Whether it went through the filters.
    pub coded: bool,
    /// How many of its bytes the dataset needs.
    pub needed: usize,
}

/// Where chunks are.
pub trait Locate {
    /// The size of the dataset.
    fn dims(&self) -> &[u64];

    /// Whether chunks at a place go through the filters.
    fn is_coded(&self, place: &[u64]) -> bool;

    /// How many elements of the chunk at a place are in the dataset.
    fn inside(&self, place: &[u64]) -> u64;

    /// How many bytes the chunk at a place takes in the file if it does not go through filters.
    fn plain_size(&self, place: &[u64]) -> u64;

    /// Where the chunks at rising places are; nothing for those that were never written.
    fn locate(&self, file: &OpenFile, places: &[Coords]) -> Result<Vec<Option<Located>>>;

    /// Takes space for chunks, by rising place.
    fn reserve(&self, file: &OpenFile, images: &[Image<'_>]) -> Result<Reserved>;

    /// Makes chunks known that are in the file now. Whether the layout message must say something new.
    fn insert(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool>;
}

/// Values between file and caller, past the cache.
pub trait Direct {
    /// Reads all that is selected.
    fn read(&self, file: &OpenFile, source: &Space, target: &Space, buf: &mut [u8]) -> Result<()>;

    /// Writes all that is selected. Whether the layout message must say something new.
    fn write(
        &mut self,
        file: &OpenFile,
        target: &Space,
        source: &Space,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool>;

    /// Reads pieces of chunks, by rising place.
    fn read_pieces(&self, file: &OpenFile, pieces: &[Piece], buf: &mut [u8]) -> Result<()>;

    /// Writes pieces of chunks, by rising place. Whether the layout message must say something new.
    fn write_pieces(&mut self, file: &OpenFile, pieces: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<bool>;
}

/// A layout of chunks.
pub trait Layout: Locate + Direct {}

impl<T: Locate + Direct> Layout for T {}

impl Facts {
    pub(crate) fn new(grid: Option<Grid>, element: u64, bytes: usize, coder: Option<Arc<Coder>>) -> Facts {
        let codes_all = coder.is_some();
        let (earned, gathered, track, proven) = Default::default();
        Facts { grid, element, bytes, has_index: false, coder, codes_all, earned, gathered, track, proven }
    }

    /// Whether values can be in the cache.
    pub fn has_chunks(&self) -> bool {
        self.grid.is_some()
    }

    /// Whether all of the chunk at a place is outside of a dataset of this size.
    pub fn is_outside(&self, place: &[u64], dims: &[u64]) -> bool {
        let chunk = self.grid.as_ref().map_or(&[][..], Grid::chunk);
        place.iter().zip(chunk.iter().zip(dims)).any(|(nth, (size, dim))| nth.saturating_mul(*size) >= *dim)
    }

    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> u64 {
        self.bytes as u64 / self.element.max(1)
    }

    /// Whether a piece is all of its chunk.
    pub(crate) fn is_whole(&self, piece: &Piece) -> bool {
        covers(piece, self.elements())
    }

    /// The bytes of what is selected.
    pub(crate) fn selected(&self, selection: &Space) -> u64 {
        selection.npoints().saturating_mul(self.element)
    }

    /// Refuses chunks that cannot be written, before they wait in the cache for that: the first one goes through the filters at once.
    pub(crate) fn prove(&self, place: &[u64], bytes: &[u8]) -> Result<()> {
        if let Some(coder) = self.coder.as_ref().filter(|_| !self.proven.load(Ordering::Relaxed)) {
            coder.encode(place, bytes, &mut Vec::new(), &mut Vec::new())?;
            self.proven.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Whether values go to so many different elements of a chunk; points may name one twice.
pub(crate) fn covers(piece: &Piece, elements: u64) -> bool {
    piece.file.kind() != Kind::Points && piece.file.npoints() == elements
}
