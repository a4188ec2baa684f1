//! Blocks: boxes of selected elements, as libhdf5 lists them.

use crate::{Coords, Slab, coords_iter::count_up, points::Points, tree::Node};

/// A box of elements, both corners included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The lowest corner.
    pub start: Coords,
    /// The highest corner.
    pub end: Coords,
}

/// The blocks of a selection, in the order of libhdf5's block list.
#[derive(Clone, Debug)]
pub struct Blocks<'a>(Walk<'a>);

#[derive(Clone, Debug)]
enum Walk<'a> {
    Nothing,
    Slabs { slabs: Vec<Slab>, next: Option<Coords> },
    Tree(Vec<(&'a Node, usize)>),
    Points { points: &'a Points, next: usize },
}

impl<'a> Blocks<'a> {
    pub(crate) fn nothing() -> Blocks<'a> {
        Blocks(Walk::Nothing)
    }

    pub(crate) fn slabs(slabs: &[Slab]) -> Blocks<'a> {
        let first = slabs.iter().all(|slab| !slab.is_empty()).then(|| slabs.iter().map(|_| 0).collect());
        Blocks(Walk::Slabs { slabs: slabs.to_vec(), next: first })
    }

    pub(crate) fn tree(root: &'a Node) -> Blocks<'a> {
        Blocks(Walk::Tree(vec![(root, 0)]))
    }

    pub(crate) fn points(points: &'a Points) -> Blocks<'a> {
        Blocks(Walk::Points { points, next: 0 })
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        match &mut self.0 {
            Walk::Nothing => None,
            Walk::Points { points, next } => {
                let point = points.get(*next)?;
                *next += 1;
                Some(Block { start: point.into(), end: point.into() })
            }
            Walk::Slabs { slabs, next } => {
                let mut at = next.take()?;
                let start: Coords = slabs.iter().zip(&at).map(|(slab, nth)| slab.start + nth * slab.stride).collect();
                let end = slabs.iter().zip(&start).map(|(slab, start)| start + (slab.block - 1)).collect();
                *next = count_up(&mut at, slabs.iter().map(|slab| slab.count)).then_some(at);
                Some(Block { start, end })
            }
            Walk::Tree(path) => next_leaf(path),
        }
    }
}

/// Steps to the next range of a leaf; the path to it gives the other dimensions.
fn next_leaf(path: &mut Vec<(&Node, usize)>) -> Option<Block> {
    loop {
        let (node, nth) = path.last().copied()?;
        match node.get(nth) {
            None => {
                path.pop();
                if let Some((_, nth)) = path.last_mut() {
                    *nth += 1;
                }
            }
            Some((.., Some(down))) => path.push((down, 0)),
            Some((.., None)) => {
                let ranges = || path.iter().filter_map(|(node, nth)| node.get(*nth));
                let block = Block {
                    start: ranges().map(|range| range.0).collect(),
                    end: ranges().map(|range| range.1 - 1).collect(),
                };
                if let Some((_, nth)) = path.last_mut() {
                    *nth += 1;
                }
                return Some(block);
            }
        }
    }
}
