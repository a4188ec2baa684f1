//! Questions that a tree answers without change.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::{Level, Link, Node};
use crate::{Coords, Slab, span::Span};

/// The lowest and the highest index in each dimension, both selected.
pub(crate) fn bounds(root: &Node) -> (Coords, Coords) {
    let (mut low, mut high) = (Coords::new(), Coords::new());
    let mut nodes = vec![root];
    while !nodes.is_empty() {
        let mut range = (u64::MAX, 0);
        let mut seen = HashSet::new();
        let mut below = Vec::new();
        for node in nodes {
            if let (Some(first), Some(last)) = (node.get(0), node.get(node.len() - 1)) {
                range = (range.0.min(first.0), range.1.max(last.1 - 1));
            }
            if let Level::Inner(spans) = &node.level {
                // The walk can meet a node again only if something else points to it, too.
                let links = spans.iter().map(|span| &span.down);
                below.extend(links.filter(|down| !down.is_shared() || seen.insert(down.id())).map(|down| &**down));
            }
        }
        low.push(range.0);
        high.push(range.1);
        nodes = below;
    }
    (low, high)
}

/// How many dimensions the tree has.
pub(crate) fn rank(root: &Node) -> usize {
    std::iter::successors(Some(root), |node| node.get(0).and_then(|(_, _, down)| down).map(|down| &**down)).count()
}

/// Whether the element at `coords` is selected.
pub(crate) fn contains(node: &Node, coords: &[u64]) -> bool {
    intersects(node, coords, coords)
}

/// Whether any element from `low` to `high`, both included, is selected.
pub(crate) fn intersects(node: &Node, low: &[u64], high: &[u64]) -> bool {
    meets(node, low, high, &mut HashSet::new())
}

/// `missed` holds the nodes that are known to have nothing in the block.
fn meets(node: &Node, low: &[u64], high: &[u64], missed: &mut HashSet<usize>) -> bool {
    let (Some((&low, further_low)), Some((&high, further_high))) = (low.split_first(), high.split_first()) else {
        return true;
    };
    let ranges = (node.first_after(low)..node.len()).map_while(|nth| node.get(nth));
    ranges.take_while(|range| range.0 <= high).any(|(_, _, down)| {
        let Some(down) = down else { return true };
        let known = missed.contains(&down.id());
        let met = !known && meets(down, further_low, further_high, missed);
        if !met && !known {
            missed.insert(down.id());
        }
        met
    })
}

/// The tree as a regular hyperslab, if it is one.
pub(crate) fn regular(root: &Node) -> Option<SmallVec<[Slab; 4]>> {
    let mut slabs = SmallVec::new();
    let mut node = Some(root);
    while let Some(current) = node {
        let (slab, down) = match &current.level {
            Level::Leaf(spans) => (evenly(spans)?, None),
            Level::Inner(spans) => (evenly(spans)?, spans.first().map(|span| &*span.down)),
        };
        slabs.push(slab);
        node = down;
    }
    Some(slabs)
}

/// Ranges of equal length, distance and content as one pattern.
pub(crate) fn evenly<T: PartialEq>(spans: &[Span<T>]) -> Option<Slab> {
    let first = spans.first()?;
    let Some(second) = spans.get(1) else { return Some(Slab::block(first.start, first.len())) };
    let stride = second.start - first.start;
    // Most lists that are not even show it at their end.
    let last = (spans.len() as u64 - 1).checked_mul(stride).and_then(|way| first.start.checked_add(way));
    if spans.last().map(|span| span.start) != last {
        return None;
    }
    let mut expected = first.start;
    for span in spans {
        if span.start != expected || span.len() != first.len() || span.down != first.down {
            return None;
        }
        expected = expected.wrapping_add(stride);
    }
    Some(Slab::new(first.start, stride, spans.len() as u64, first.len()))
}

/// The part of a tree whose index in the first dimension is in `start..end`.
pub(crate) fn rows(root: &Node, start: u64, end: u64) -> Option<Link> {
    fn clip<T: Clone>(spans: &[Span<T>], first: usize, start: u64, end: u64) -> Vec<Span<T>> {
        let touched = spans.iter().skip(first).take_while(|span| span.start < end);
        touched
            .map(|span| Span { start: span.start.max(start), end: span.end.min(end), down: span.down.clone() })
            .collect()
    }
    let first = root.first_after(start);
    match &root.level {
        Level::Leaf(spans) => Link::leaf(clip(spans, first, start, end)),
        Level::Inner(spans) => Link::inner(clip(spans, first, start, end)),
    }
}

/// The tree with every index of a dimension moved by the same distance, which the caller has checked to fit.
pub(crate) fn moved(root: &Link, by: &[i64]) -> Link {
    fn shift<T>(span: &Span<T>, by: i64, down: T) -> Span<T> {
        Span { start: span.start.wrapping_add_signed(by), end: span.end.wrapping_add_signed(by), down }
    }
    fn walk(link: &Link, by: &[i64], known: &mut HashMap<usize, Link>) -> Link {
        let Some((&here, further)) = by.split_first() else { return link.clone() };
        if let Some(known) = known.get(&link.id()) {
            return known.clone();
        }
        let level = match &link.level {
            Level::Leaf(spans) => Level::Leaf(spans.iter().map(|span| shift(span, here, ())).collect()),
            Level::Inner(spans) => {
                Level::Inner(spans.iter().map(|span| shift(span, here, walk(&span.down, further, known))).collect())
            }
        };
        let result = Node::link(level, link.elements, link.blocks);
        known.insert(link.id(), result.clone());
        result
    }
    walk(root, by, &mut HashMap::new())
}
