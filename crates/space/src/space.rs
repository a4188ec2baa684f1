//! An extent with a selection: what a request names.

use crate::{
    Block, Blocks, Coords, CoordsIter, Error, Extent, Kind, Op, Points, Result, Selection, Slab, UNLIMITED,
    selection::Shape,
    slab::Parts,
    tree::{self, Budget},
    view::View,
};

/// A dataspace: the size of an array and the elements selected in it.
///
/// ```
/// use hyperslab_space::{Op, Slab, Space};
///
/// let mut space = Space::simple(&[100, 200])?;
/// assert_eq!(space.npoints(), 20_000); // a new space selects everything
///
/// space.select_hyperslab(Op::Set, &[Slab::new(0, 2, 50, 1), Slab::block(10, 5)])?; // every second row, columns 10–14
/// assert_eq!(space.npoints(), 250);
/// assert_eq!(space.bounds().unwrap(), (vec![0, 10].into(), vec![98, 14].into()));
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    pub(crate) extent: Extent,
    pub(crate) selection: Selection,
}

impl Space {
    /// Everything in `extent`.
    pub fn new(extent: Extent) -> Space {
        Space { extent, selection: Selection::ALL }
    }

    /// Everything in a box of elements.
    pub fn simple(dims: &[u64]) -> Result<Space> {
        Extent::simple(dims).map(Space::new)
    }

    /// Everything in a box of elements that may grow to `max` (`None`: without limit).
    pub fn with_max(dims: &[u64], max: &[Option<u64>]) -> Result<Space> {
        Extent::with_max(dims, max).map(Space::new)
    }

    /// One element without dimensions.
    pub fn scalar() -> Space {
        Space::new(Extent::scalar())
    }

    /// A space without elements.
    pub fn null() -> Space {
        Space::new(Extent::null())
    }

    /// The size.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// The selection by itself.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.extent.rank()
    }

    /// The size of each dimension.
    pub fn dims(&self) -> &[u64] {
        self.extent.dims()
    }

    /// Which kind of selection it has.
    pub fn kind(&self) -> Kind {
        self.selection.kind()
    }

    /// Selects everything.
    pub fn select_all(&mut self) {
        self.selection = Selection::ALL;
    }

    /// Selects nothing.
    pub fn select_none(&mut self) {
        self.selection = Selection::NONE;
    }

    /// Selects points, given by their coordinates one after the other; their order and repeats are kept.
    pub fn select_points(&mut self, coords: &[u64]) -> Result<()> {
        self.selection = Selection::from_points(Points::new(self.rank(), coords.to_vec())?);
        Ok(())
    }

    /// Combines the selection with a regular hyperslab: one pattern per dimension.
    pub fn select_hyperslab(&mut self, op: Op, slabs: &[Slab]) -> Result<()> {
        let slab = self.hyperslab(slabs)?;
        self.combine_with(op, slab)
    }

    /// Combines the selection with the union of any blocks, which may overlap; far faster than one after the other.
    pub fn select_blocks(&mut self, op: Op, blocks: &[Block]) -> Result<()> {
        let mut ranges = vec![Vec::with_capacity(blocks.len()); self.rank()];
        for block in blocks {
            self.same_rank("the first corner of a block", block.start.len())?;
            self.same_rank("the last corner of a block", block.end.len())?;
            let corners = || block.start.iter().zip(&block.end);
            if corners().any(|(low, high)| low > high || *high == UNLIMITED) {
                return Err(Error::Block { start: block.start.to_vec(), end: block.end.to_vec() });
            }
            for (ranges, (low, high)) in ranges.iter_mut().zip(corners()) {
                ranges.push((*low, high + 1));
            }
        }
        let union = tree::union(&ranges, &mut Budget::unbounded()).unwrap_or_default();
        self.combine_with(op, Selection::from_tree(union))
    }

    /// Combines the selection with another one of this extent. Points count as a set here, so the result is a hyperslab
    /// selection (only an operand without elements leaves them as they are); an unlimited selection counts as far as this extent reaches.
    pub fn select(&mut self, op: Op, selection: &Selection) -> Result<()> {
        self.combine_with(op, selection.clone())
    }

    /// A new space with the selection of this and `other` combined.
    pub fn combine(&self, op: Op, other: &Space) -> Result<Space> {
        self.same_rank("the other space", other.rank())?;
        let mut result = self.clone();
        // `All` means the other's extent.
        let selection = match (other.kind(), other.view()) {
            (Kind::All, Ok(View::Nothing)) => Selection::NONE,
            (Kind::All, Ok(View::Slabs(slabs))) if other.dims() != self.dims() => Selection(Shape::Regular(slabs)),
            _ => other.selection.clone(),
        };
        result.combine_with(op, selection)?;
        Ok(result)
    }

    /// How many elements are selected; [`UNLIMITED`] for an unlimited selection, or one with more elements than 64 bits can count.
    pub fn npoints(&self) -> u64 {
        match &self.selection.0 {
            Shape::Nothing => 0,
            Shape::All => self.extent.elements().unwrap_or(UNLIMITED),
            Shape::Points(points) => points.len() as u64,
            Shape::Regular(slabs) => slabs.iter().fold(1, |product: u64, slab| product.saturating_mul(slab.indices())),
            Shape::Tree(tree) => tree.elements,
        }
    }

    /// The lowest and the highest selected index in each dimension; `None` if nothing is selected.
    pub fn bounds(&self) -> Option<(Coords, Coords)> {
        match &self.selection.0 {
            Shape::Nothing => None,
            Shape::All if self.extent.is_empty() => None,
            Shape::All => {
                Some((self.dims().iter().map(|_| 0).collect(), self.dims().iter().map(|dim| dim - 1).collect()))
            }
            Shape::Points(points) => points.bounds(),
            Shape::Regular(slabs) => {
                Some((slabs.iter().map(|slab| slab.start).collect(), slabs.iter().map(Slab::last).collect()))
            }
            Shape::Tree(tree) => Some(tree::bounds(tree)),
        }
    }

    /// The pattern of each dimension, if the selection is a regular hyperslab, as it was given or recognized.
    pub fn regular(&self) -> Option<&[Slab]> {
        match &self.selection.0 {
            Shape::Regular(slabs) => Some(slabs),
            _ => None,
        }
    }

    /// The points, if the selection is a list of them.
    pub fn points(&self) -> Option<&Points> {
        match &self.selection.0 {
            Shape::Points(points) => Some(points),
            _ => None,
        }
    }

    /// How many blocks [`Space::blocks`] lists.
    pub fn nblocks(&self) -> u64 {
        match &self.selection.0 {
            Shape::Nothing => 0,
            Shape::All => u64::from(!self.extent.is_empty()),
            Shape::Points(points) => points.len() as u64,
            Shape::Regular(slabs) => slabs.iter().fold(1, |product: u64, slab| product.saturating_mul(slab.count)),
            Shape::Tree(tree) => tree.blocks,
        }
    }

    /// The blocks of the selection in libhdf5's order; each point is a block.
    pub fn blocks(&self) -> Result<Blocks<'_>> {
        Ok(match &self.selection.0 {
            Shape::Regular(slabs) if slabs.iter().any(Slab::is_unlimited) => return Err(Error::Unlimited),
            Shape::Regular(slabs) => Blocks::slabs(slabs),
            _ => match self.view()? {
                View::Nothing => Blocks::nothing(),
                View::Slabs(slabs) => Blocks::slabs(&slabs),
                View::Tree(tree) => Blocks::tree(tree),
                View::Points(points) => Blocks::points(points),
            },
        })
    }

    /// The coordinates of the selected elements, in the order of the selection.
    pub fn coords(&self) -> Result<CoordsIter<'_>> {
        Ok(match self.view()? {
            View::Nothing => CoordsIter::nothing(),
            View::Slabs(slabs) => CoordsIter::slabs(slabs.into_vec()),
            View::Tree(tree) => CoordsIter::tree(tree),
            View::Points(points) => CoordsIter::points(points),
        })
    }

    /// Whether any element from `low` to `high`, both included, is selected.
    pub fn intersects_block(&self, low: &[u64], high: &[u64]) -> Result<bool> {
        self.same_rank("the low corner", low.len())?;
        self.same_rank("the high corner", high.len())?;
        if low.iter().zip(high).any(|(low, high)| low > high) {
            return Ok(false);
        }
        let inside = |point: &[u64]| {
            point.iter().zip(low.iter().zip(high)).all(|(index, (low, high))| low <= index && index <= high)
        };
        Ok(match &self.selection.0 {
            Shape::Regular(slabs) => slabs
                .iter()
                .zip(low.iter().zip(high))
                .all(|(slab, (&low, &high))| slab.rank(low) < slab.rank(high.saturating_add(1)) || slab.contains(low)),
            _ => match self.view()? {
                View::Nothing => false,
                View::Slabs(slabs) => slabs.iter().zip(low).all(|(slab, low)| *low < slab.end()),
                View::Tree(tree) => tree::intersects(tree, low, high),
                View::Points(points) => points.iter().any(inside),
            },
        })
    }

    /// Whether the element at `coords` is selected.
    pub fn contains(&self, coords: &[u64]) -> Result<bool> {
        self.intersects_block(coords, coords)
    }

    /// The same selection at another place: each dimension's indices moved by a distance.
    pub fn moved(&self, by: &[i64]) -> Result<Space> {
        self.same_rank("the distance", by.len())?;
        let Some((low, high)) = self.bounds() else { return Ok(self.clone()) };
        for (dim, (&by, (&low, &high))) in by.iter().zip(low.iter().zip(&high)).enumerate() {
            let fits = |index: u64| index.checked_add_signed(by).is_some_and(|index| index < UNLIMITED);
            if !(fits(low) && (high == UNLIMITED || fits(high))) {
                return Err(Error::Moved { dim, by });
            }
        }
        let shifted = |slab: &Slab, by: i64| Slab { start: slab.start.wrapping_add_signed(by), ..*slab };
        let shape = match &self.selection.0 {
            Shape::Regular(slabs) => {
                Shape::Regular(slabs.iter().zip(by).map(|(slab, &by)| shifted(slab, by)).collect())
            }
            _ => match self.view()? {
                View::Nothing => Shape::Nothing,
                View::Slabs(slabs) => {
                    Shape::Regular(slabs.iter().zip(by).map(|(slab, &by)| shifted(slab, by)).collect())
                }
                View::Tree(tree) => Shape::Tree(tree::moved(tree, by)),
                View::Points(points) => {
                    let flat = points
                        .iter()
                        .flat_map(|point| point.iter().zip(by).map(|(index, &by)| index.wrapping_add_signed(by)));
                    Shape::Points(Points::new(self.rank(), flat.collect())?)
                }
            },
        };
        Ok(Space { extent: self.extent.clone(), selection: Selection(shape) })
    }

    /// An unlimited selection as far as the extent reaches; others as they are.
    pub fn clip_unlimited(&self) -> Result<Space> {
        let mut clipped = self.clone();
        if let Shape::Regular(slabs) = &self.selection.0
            && slabs.iter().any(Slab::is_unlimited)
        {
            let parts: Vec<Parts> =
                slabs.iter().zip(self.dims()).map(|(slab, &dim)| slab.clip_unlimited(dim)).collect();
            clipped.selection = Selection::from_parts(&parts)?;
        }
        Ok(clipped)
    }

    /// Fails if the selection reaches over the extent.
    pub fn check_inside(&self) -> Result<()> {
        match &self.selection.0 {
            Shape::Nothing | Shape::All => Ok(()),
            Shape::Regular(slabs) => self.check_last(slabs.iter().map(Slab::last)),
            Shape::Points(_) | Shape::Tree(_) => {
                self.bounds().map_or(Ok(()), |(_, last)| self.check_last(last.into_iter()))
            }
        }
    }

    /// Refuses a last index outside the extent, in any dimension.
    fn check_last(&self, last: impl Iterator<Item = u64>) -> Result<()> {
        for (dim, (high, &size)) in last.zip(self.dims()).enumerate() {
            if high >= size {
                return Err(if high == UNLIMITED { Error::Unlimited } else { Error::OutOfExtent { dim, high, size } });
            }
        }
        Ok(())
    }
}
