//! A selection as algorithms see it: bound to its extent, limited, patterns in normal form.

use crate::{
    Error, Points, Result, Slab, Space,
    selection::{Shape, Slabs},
    slab::Parts,
    tree::{self, Budget, Link},
};

#[derive(Clone, Debug)]
pub(crate) enum View<'a> {
    Nothing,
    /// One non-empty pattern per dimension; no dimensions at all for a scalar.
    Slabs(Slabs),
    Tree(&'a Link),
    Points(&'a Points),
}

impl Space {
    pub(crate) fn view(&self) -> Result<View<'_>> {
        Ok(match &self.selection.0 {
            Shape::Nothing => View::Nothing,
            Shape::All if self.extent.is_empty() => View::Nothing,
            Shape::All => View::Slabs(self.dims().iter().map(|&dim| Slab::block(0, dim)).collect()),
            Shape::Regular(slabs) if slabs.iter().any(Slab::is_unlimited) => return Err(Error::Unlimited),
            Shape::Regular(slabs) => View::Slabs(slabs.iter().map(|slab| slab.normal()).collect()),
            Shape::Tree(tree) => View::Tree(tree),
            Shape::Points(points) => View::Points(points),
        })
    }

    pub(crate) fn same_rank(&self, what: &'static str, found: usize) -> Result<()> {
        let expected = self.rank();
        if found == expected { Ok(()) } else { Err(Error::RankMismatch { what, expected, found }) }
    }
}

impl View<'_> {
    /// The elements as a tree; `None` if there are none, or no dimensions.
    pub(crate) fn to_tree(&self) -> Result<Option<Link>> {
        Ok(match self {
            View::Nothing => None,
            View::Slabs(slabs) => {
                tree::product(&slabs.iter().map(|&slab| Parts::from_slice(&[slab])).collect::<Vec<_>>())?
            }
            View::Tree(tree) => Some((*tree).clone()),
            View::Points(points) => tree::union(&points.ranges(), &mut Budget::unbounded()).unwrap_or_default(),
        })
    }
}
