//! A selection by itself: which elements, of an extent that is known elsewhere.

use smallvec::SmallVec;

use crate::{
    Result, Slab, UNLIMITED,
    points::Points,
    slab::Parts,
    tree::{self, Link},
};

/// One pattern per dimension.
pub(crate) type Slabs = SmallVec<[Slab; 4]>;

/// Which elements of an extent are meant. Made and asked through [`Space`](crate::Space).
///
/// Two are equal if they are of one kind and hold the same elements, points in the same order. Everything is not equal to the
/// hyperslab that holds everything: only an extent tells that they are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection(pub(crate) Shape);

/// What a selection is made of.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Nothing,
    All,
    Points(Points),
    /// As given by the caller; at most one dimension unlimited, none empty.
    Regular(Slabs),
    /// Never regular: see [`Selection::from_tree`].
    Tree(Link),
}

/// The four kinds of selection that the format tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No element.
    None,
    /// Every element.
    All,
    /// A list of elements.
    Points,
    /// Boxes of elements, regular or not.
    Hyperslab,
}

impl Selection {
    /// No element.
    pub const NONE: Selection = Selection(Shape::Nothing);
    /// Every element.
    pub const ALL: Selection = Selection(Shape::All);

    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match &self.0 {
            Shape::Nothing => Kind::None,
            Shape::All => Kind::All,
            Shape::Points(_) => Kind::Points,
            Shape::Regular(_) | Shape::Tree(_) => Kind::Hyperslab,
        }
    }

    /// The dimension in which it has no end, and its pattern there.
    pub fn unlimited(&self) -> Option<(usize, Slab)> {
        let Shape::Regular(slabs) = &self.0 else { return None };
        slabs.iter().copied().enumerate().find(|(_, slab)| slab.is_unlimited())
    }

    /// An unlimited selection with no more than the first `indices` of its unlimited dimension; others as they are.
    ///
    /// ```
    /// use hyperslab_space::{Op, Slab, Space, UNLIMITED};
    /// let mut space = Space::with_max(&[0], &[None])?;
    /// space.select_hyperslab(Op::Set, &[Slab::new(1, 4, UNLIMITED, 2)])?; // 1 2  5 6  9 …
    /// let three = Space::with(Space::simple(&[9])?.extent().clone(), space.selection().limited(3)?)?;
    /// assert_eq!(three.bounds().unwrap(), (vec![1].into(), vec![5].into()));
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn limited(&self, indices: u64) -> Result<Selection> {
        let (Shape::Regular(slabs), Some((dim, _))) = (&self.0, self.unlimited()) else { return Ok(self.clone()) };
        let cut =
            |(at, slab): (usize, &Slab)| if at == dim { slab.take(0, indices) } else { Parts::from_slice(&[*slab]) };
        Selection::from_parts(&slabs.iter().enumerate().map(cut).collect::<Vec<_>>())
    }

    /// The block of this number of a selection whose count has no end; none of any other.
    pub fn unlimited_block(&self, number: u64) -> Option<Selection> {
        let (Shape::Regular(slabs), Some((dim, slab))) = (&self.0, self.unlimited()) else { return None };
        let start = slab.start.checked_add(number.checked_mul(slab.stride)?)?;
        start.checked_add(slab.block).filter(|_| slab.block != UNLIMITED)?;
        let mut slabs = slabs.clone();
        *slabs.get_mut(dim)? = Slab::block(start, slab.block);
        Some(Selection(Shape::Regular(slabs)))
    }

    /// How many dimensions its elements have; nothing and everything fit any number.
    pub fn rank(&self) -> Option<usize> {
        match &self.0 {
            Shape::Nothing | Shape::All => None,
            Shape::Points(points) => Some(points.rank()),
            Shape::Regular(slabs) => Some(slabs.len()),
            Shape::Tree(tree) => Some(tree::rank(tree)),
        }
    }

    /// A tree as a selection: a regular hyperslab if it is one, so that each set of elements has one shape.
    pub(crate) fn from_tree(tree: Option<Link>) -> Selection {
        Selection(match tree {
            None => Shape::Nothing,
            Some(tree) => match tree::regular(&tree) {
                Some(slabs) => Shape::Regular(slabs),
                None => Shape::Tree(tree),
            },
        })
    }

    /// The product of parts per dimension: regular if each dimension is one pattern.
    pub(crate) fn from_parts(dims: &[Parts]) -> Result<Selection> {
        let one_each: Option<Slabs> =
            dims.iter().map(|parts| <[Slab; 1]>::try_from(&parts[..]).ok()?.first().copied()).collect();
        match one_each {
            Some(slabs) => Ok(Selection(Shape::Regular(slabs))),
            None => tree::product(dims).map(Selection::from_tree),
        }
    }

    pub(crate) fn from_points(points: Points) -> Selection {
        Selection(if points.is_empty() { Shape::Nothing } else { Shape::Points(points) })
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Nothing, Shape::Nothing) | (Shape::All, Shape::All) => true,
            (Shape::Points(left), Shape::Points(right)) => left == right,
            (Shape::Regular(left), Shape::Regular(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.normal() == right.normal())
            }
            (Shape::Tree(left), Shape::Tree(right)) => left == right,
            _ => false,
        }
    }
}
