//! Cutting a selection by a grid of chunks.
//!
//! Each piece is what one chunk holds of the selection, in coordinates of the chunk, with the part of the memory selection that
//! corresponds to it. Patterns are cut by arithmetic, dimension by dimension; trees and points are sorted into chunks in one walk.
//! Chunks that are not touched cost nothing.

mod places;
mod product;
mod sort;

use crate::{
    Coords, Error, Result, Selection, Slab, Space,
    selection::{Shape, Slabs},
    view::View,
};

use product::ProductCut;
pub(crate) use product::follows;
use sort::Sorted;

/// A grid of equal chunks.
///
/// ```
/// use hyperslab_space::{Grid, Op, Slab, Space};
///
/// let mut file = Space::simple(&[100, 100])?;
/// file.select_hyperslab(Op::Set, &[Slab::block(15, 10), Slab::block(0, 5)])?;
/// let memory = Space::simple(&[10, 5])?;
/// let pieces: Vec<_> = file.pieces(&Grid::new(&[20, 20])?, &memory)?.collect::<Result<_, _>>()?;
/// assert_eq!(pieces.len(), 2); // rows 15–19 of chunk (0, 0), rows 0–4 of chunk (1, 0)
/// assert_eq!(pieces[1].chunk.as_slice(), [1, 0]);
/// assert_eq!(pieces[1].memory.bounds().unwrap().0.as_slice(), [5, 0]);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// All of a chunk.
    chunk: Space,
}

/// What one chunk holds of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Which chunk, counted in chunks in each dimension.
    pub chunk: Coords,
    /// The part of the selection in this chunk; its extent is the chunk.
    pub file: Space,
    /// The corresponding part of the memory selection; its extent is the memory's.
    pub memory: Space,
}

/// Room is made ahead for so many pieces at most: a selection may have more than there is memory for.
const RESERVED: usize = 1 << 15;

/// The pieces of a selection, chunk by chunk in row-major order.
#[derive(Debug)]
pub struct Pieces<'a>(Cut<'a>);

#[derive(Debug)]
enum Cut<'a> {
    Nothing,
    /// All in one chunk; until it is taken.
    One(Option<Box<Piece>>),
    Product(Box<ProductCut<'a>>),
    Sorted(Box<Sorted<'a>>),
}

impl Grid {
    /// A grid of chunks of this shape.
    pub fn new(chunk: &[u64]) -> Result<Grid> {
        if chunk.is_empty() || chunk.contains(&0) {
            return Err(Error::Chunk(chunk.to_vec()));
        }
        Ok(Grid { chunk: Space::simple(chunk)? })
    }

    /// The shape of a chunk.
    pub fn chunk(&self) -> &[u64] {
        self.chunk.dims()
    }
}

impl Space {
    /// The selection cut by `grid`, with the matching part of `memory`, which must select equally many elements.
    pub fn pieces<'a>(&'a self, grid: &Grid, memory: &'a Space) -> Result<Pieces<'a>> {
        self.same_rank("the chunk", grid.chunk.rank())?;
        self.same_count(memory)?;
        let chunk = || grid.chunk.clone();
        Ok(Pieces(match self.view()? {
            View::Nothing => Cut::Nothing,
            View::Slabs(slabs) => match only_chunk(&slabs, grid.chunk()) {
                Some(place) => Cut::One(Some(Box::new(only_piece(place, slabs, chunk(), memory)))),
                None => Cut::Product(Box::new(ProductCut::new(slabs, chunk(), memory)?)),
            },
            View::Tree(tree) => Cut::Sorted(Box::new(Sorted::tree(tree, chunk(), memory)?)),
            View::Points(points) => Cut::Sorted(Box::new(Sorted::points(points, chunk(), memory)?)),
        }))
    }
}

impl Pieces<'_> {
    /// The next ones, not more than so many; nothing when all are through.
    pub fn batch(&mut self, most: usize) -> Result<Vec<Piece>> {
        let expected = match &mut self.0 {
            Cut::Product(cut) => usize::try_from(cut.left()).unwrap_or(usize::MAX),
            Cut::One(piece) => return Ok(piece.take_if(|_| most > 0).map_or_else(Vec::new, |piece| vec![*piece])),
            Cut::Nothing | Cut::Sorted(_) => 0,
        };
        let mut batch = Vec::with_capacity(expected.min(most).min(RESERVED));
        for piece in self.by_ref().take(most) {
            batch.push(piece?);
        }
        Ok(batch)
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Result<Piece>> {
        match &mut self.0 {
            Cut::Nothing => None,
            Cut::One(piece) => piece.take().map(|piece| Ok(*piece)),
            Cut::Product(cut) => cut.next(),
            Cut::Sorted(cut) => cut.next(),
        }
    }
}

/// The only chunk that patterns touch.
fn only_chunk(slabs: &[Slab], chunk: &[u64]) -> Option<Coords> {
    let only = |(slab, size): (&Slab, &u64)| Some(slab.start / size).filter(|first| slab.last() / size == *first);
    slabs.iter().zip(chunk).map(only).collect()
}

/// Patterns that touch only this chunk, and all of the memory.
fn only_piece(place: Coords, mut slabs: Slabs, chunk: Space, memory: &Space) -> Piece {
    for (slab, (place, size)) in slabs.iter_mut().zip(place.iter().zip(chunk.dims())) {
        slab.start -= place * size;
    }
    let file = Space { extent: chunk.extent, selection: Selection(Shape::Regular(slabs)) };
    Piece { chunk: place, file, memory: memory.clone() }
}
