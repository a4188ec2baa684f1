//! The walk over all selected coordinates.

use crate::{Coords, Slab, points::Points, tree::Node};

/// The selected coordinates one by one, in the order of the selection.
#[derive(Clone, Debug)]
pub struct CoordsIter<'a>(Walk<'a>);

#[derive(Clone, Debug)]
enum Walk<'a> {
    Nothing,
    Points {
        points: &'a Points,
        next: usize,
    },
    Slabs {
        slabs: Vec<Slab>,
        next: Option<Coords>,
    },
    /// From the root to a leaf: the node, the number of the range, the index in it.
    Tree(Vec<(&'a Node, usize, u64)>),
}

impl<'a> CoordsIter<'a> {
    pub(crate) fn nothing() -> CoordsIter<'a> {
        CoordsIter(Walk::Nothing)
    }

    pub(crate) fn points(points: &'a Points) -> CoordsIter<'a> {
        CoordsIter(Walk::Points { points, next: 0 })
    }

    pub(crate) fn slabs(slabs: Vec<Slab>) -> CoordsIter<'a> {
        let first = slabs.iter().all(|slab| !slab.is_empty()).then(|| slabs.iter().map(|_| 0).collect());
        CoordsIter(Walk::Slabs { slabs, next: first })
    }

    pub(crate) fn tree(root: &'a Node) -> CoordsIter<'a> {
        let mut path = Vec::new();
        descend(&mut path, root);
        CoordsIter(Walk::Tree(path))
    }
}

impl Iterator for CoordsIter<'_> {
    type Item = Coords;

    fn next(&mut self) -> Option<Coords> {
        match &mut self.0 {
            Walk::Nothing => None,
            Walk::Points { points, next } => {
                let point = points.get(*next)?;
                *next += 1;
                Some(point.into())
            }
            Walk::Slabs { slabs, next } => {
                let mut at = next.take()?;
                let coords = slabs.iter().zip(&at).map(|(slab, &ordinal)| slab.nth(ordinal)).collect();
                *next = count_up(&mut at, slabs.iter().map(Slab::indices)).then_some(at);
                Some(coords)
            }
            Walk::Tree(path) => {
                let coords = (!path.is_empty()).then(|| path.iter().map(|(.., index)| *index).collect());
                step(path);
                coords
            }
        }
    }
}

/// Counts `at` up by one, the last dimension fastest, each dimension below its limit; `false` when all are through.
pub(crate) fn count_up(at: &mut Coords, limits: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator) -> bool {
    for (digit, limit) in at.iter_mut().zip(limits).rev() {
        *digit += 1;
        if *digit < limit {
            return true;
        }
        *digit = 0;
    }
    false
}

/// Extends the path to the first element below `node`.
fn descend<'a>(path: &mut Vec<(&'a Node, usize, u64)>, mut node: &'a Node) {
    while let Some((start, _, down)) = node.get(0) {
        path.push((node, 0, start));
        let Some(down) = down else { break };
        node = down;
    }
}

/// Moves the path to the next element.
fn step(path: &mut Vec<(&Node, usize, u64)>) {
    while let Some((node, nth, index)) = path.pop() {
        let here = node.get(nth).filter(|range| index + 1 < range.1).map(|range| (nth, index + 1, range.2));
        let next = here.or_else(|| node.get(nth + 1).map(|range| (nth + 1, range.0, range.2)));
        if let Some((nth, index, down)) = next {
            path.push((node, nth, index));
            if let Some(down) = down {
                descend(path, down);
            }
            return;
        }
    }
}
