//! Irregular selections: a tree with one level per dimension.
//!
//! A node holds the sorted index ranges of its dimension; each range points to the node of what is selected in the further
//! dimensions. Equal sub-trees are shared wherever they come from the same operand, and touching ranges with equal content are
//! one range, so a tree is as large as its structure and two trees with the same elements are equal.
//!
//! Lives here: the node, and questions about it. How trees are made is in [`build`], how they are combined in
//! [`combine`]. Called by the selection types; knows no extent.

mod build;
mod combine;
mod equal;
mod ordinals;
mod query;

use std::sync::{Arc, OnceLock};

use crate::span::Span;

pub(crate) use build::{Budget, MAX_RANGES, product, union};
pub(crate) use combine::apply;
pub(crate) use ordinals::{Ordinals, append, ordinals, take};
pub(crate) use query::{bounds, contains, intersects, moved, rank, regular, rows};

/// A shared, never empty node.
#[derive(Clone, Debug)]
pub(crate) struct Link(Arc<Node>);

/// The ranges of one dimension and what lies below them.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) level: Level,
    /// Selected elements in this and the further dimensions; stops at the largest number.
    pub(crate) elements: u64,
    /// Blocks, as libhdf5 counts and lists them.
    pub(crate) blocks: u64,
    /// Elements before each range, made when first asked for.
    before: OnceLock<Box<[u64]>>,
    /// A number that equal nodes share, made when first asked for.
    content: OnceLock<u64>,
}

/// The ranges of a dimension.
#[derive(Debug)]
pub(crate) enum Level {
    /// The last dimension.
    Leaf(Vec<Span<()>>),
    /// A dimension before it.
    Inner(Vec<Span<Link>>),
}

impl Link {
    /// A node of the last dimension, or nothing if there are no ranges.
    pub(crate) fn leaf(spans: Vec<Span<()>>) -> Option<Link> {
        let (elements, blocks) = (total(&spans, |_| 1), spans.len() as u64);
        (!spans.is_empty()).then(|| Node::link(Level::Leaf(spans), elements, blocks))
    }

    /// A node before the last dimension, or nothing if there are no ranges.
    pub(crate) fn inner(spans: Vec<Span<Link>>) -> Option<Link> {
        let elements = total(&spans, |down| down.elements);
        let blocks = spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.down.blocks));
        (!spans.is_empty()).then(|| Node::link(Level::Inner(spans), elements, blocks))
    }

    /// Whether both are the same node in memory.
    pub(crate) fn is(&self, other: &Link) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether something else points to this node: only then can meeting it again be expected.
    fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// An identity to remember results by, while the node is alive.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl std::ops::Deref for Link {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}

impl Node {
    fn link(level: Level, elements: u64, blocks: u64) -> Link {
        Link(Arc::new(Node { level, elements, blocks, before: OnceLock::new(), content: OnceLock::new() }))
    }

    /// How many ranges this dimension has.
    pub(crate) fn len(&self) -> usize {
        match &self.level {
            Level::Leaf(spans) => spans.len(),
            Level::Inner(spans) => spans.len(),
        }
    }

    /// The `nth` range and the node below it, if there is one.
    pub(crate) fn get(&self, nth: usize) -> Option<(u64, u64, Option<&Link>)> {
        match &self.level {
            Level::Leaf(spans) => spans.get(nth).map(|span| (span.start, span.end, None)),
            Level::Inner(spans) => spans.get(nth).map(|span| (span.start, span.end, Some(&span.down))),
        }
    }

    /// All ranges with the nodes below them.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64, Option<&Link>)> {
        (0..self.len()).filter_map(|nth| self.get(nth))
    }

    /// The number of the first range that ends after `index`.
    pub(crate) fn first_after(&self, index: u64) -> usize {
        match &self.level {
            Level::Leaf(spans) => spans.partition_point(|span| span.end <= index),
            Level::Inner(spans) => spans.partition_point(|span| span.end <= index),
        }
    }

    /// The number of elements in the ranges before the `nth`.
    pub(crate) fn before(&self, nth: usize) -> u64 {
        let sums = self.before.get_or_init(|| {
            let mut sum = 0u64;
            self.ranges()
                .map(|(start, end, down)| {
                    let before = sum;
                    sum = sum.saturating_add((end - start).saturating_mul(down.map_or(1, |down| down.elements)));
                    before
                })
                .collect()
        });
        sums.get(nth).copied().unwrap_or(self.elements)
    }

    /// The number of the range that holds the element with this ordinal.
    pub(crate) fn holding(&self, ordinal: u64) -> usize {
        self.before(0); // makes the sums
        let sums = self.before.get().map_or(&[][..], |sums| sums);
        sums.partition_point(|&before| before <= ordinal).saturating_sub(1)
    }
}

fn total<T>(spans: &[Span<T>], each: impl Fn(&T) -> u64) -> u64 {
    spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.len().saturating_mul(each(&span.down))))
}
