//! What the cache knows of a layout. Every callback of the design has its place here, in [`Coder`] or in the chunk itself; the table is in
//! `docs/chunk-cache.md`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::{Coords, Grid, Kind, Piece, Space};

use crate::{Coder, Filling, Result, cached::Earned, publish::Reserved};

/// What never changes of a layout.
#[derive(Debug)]
pub struct Facts {
    /// How the dataset is cut.
    pub(crate) grid: Grid,
    /// The bytes of an element.
    pub(crate) element: u64,
    /// The bytes of a chunk in memory.
    pub(crate) bytes: usize,
    /// How chunks are coded.
    pub(crate) coder: Arc<Coder>,
    /// What was used of chunks without filters.
    pub(crate) earned: Earned,
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

/// Where chunks are.
pub trait Locate {
    /// Whether chunks at a place go through the filters.
    fn is_coded(&self, place: &[u64]) -> bool;

    /// How many elements of the chunk at a place are in the dataset.
    fn inside(&self, place: &[u64]) -> u64;

    /// Where the chunks at rising places are; nothing for those that were never written.
    fn locate(&self, file: &OpenFile, places: &[Coords]) -> Result<Vec<Option<ChunkEntry>>>;

    /// Takes space for chunks, by rising place.
    fn reserve(&self, file: &OpenFile, images: &[Image<'_>]) -> Result<Reserved>;

    /// Makes chunks known that are in the file now. Whether the layout message must say something new.
    fn insert(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool>;
}

/// Values between file and caller, past the cache.
pub trait Direct {
    /// Reads all that is selected.
    fn read(&self, file: &OpenFile, source: &Space, target: &Space, buf: &mut [u8], fill: Option<&[u8]>) -> Result<()>;

    /// Reads pieces of chunks, by rising place.
    fn read_pieces(&self, file: &OpenFile, pieces: Vec<Piece>, buf: &mut [u8], fill: Option<&[u8]>) -> Result<()>;

    /// Writes pieces of chunks, by rising place. Whether the layout message must say something new.
    fn write_pieces(&mut self, file: &OpenFile, pieces: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<bool>;
}

/// A layout of chunks.
pub trait Layout: Locate + Direct {}

impl<T: Locate + Direct> Layout for T {}

impl Facts {
    pub(crate) fn new(grid: Grid, element: u64, bytes: usize, coder: Arc<Coder>) -> Facts {
        Facts { grid, element, bytes, coder, earned: Earned::default(), proven: AtomicBool::new(false) }
    }

    /// The bytes of a chunk in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> u64 {
        self.bytes as u64 / self.element.max(1)
    }

    /// Whether a piece is all of its chunk.
    pub(crate) fn is_whole(&self, piece: &Piece) -> bool {
        covers(piece, self.elements())
    }

    /// About how many chunks a selection touches; no fewer than it does.
    pub(crate) fn touched(&self, selection: &Space) -> u64 {
        let Some((low, high)) = selection.bounds() else { return 0 };
        let sides = low.iter().zip(&high).zip(self.grid.chunk());
        let sides = sides.map(|((low, high), size)| high / size - low / size + 1);
        sides.fold(1u64, u64::saturating_mul).min(selection.npoints())
    }

    /// Refuses chunks that cannot be written, before they wait in the cache for that: the first one goes through the filters at once.
    pub(crate) fn prove(&self, place: &[u64], bytes: &[u8]) -> Result<()> {
        if self.coder.filters() && !self.proven.load(Ordering::Relaxed) {
            self.coder.encode(place, bytes, &mut Vec::new(), &mut Vec::new())?;
            self.proven.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Whether values go to so many different elements of a chunk; points may name one twice.
pub(crate) fn covers(piece: &Piece, elements: u64) -> bool {
    piece.file.kind() != Kind::Points && piece.file.npoints() == elements
}
