//! Set algebra on trees.
//!
//! Two nodes are merged range by range; where both have content, the nodes below are combined the same way. Pairs of shared nodes
//! are combined once and remembered, so the cost follows the structure of both trees and not their product.

use std::{collections::HashMap, sync::Arc};

use super::{Level, Link, Node, total};
use crate::{
    Op,
    span::{self, Span},
};

/// The combination of two trees of one rank; `None` is the empty set. Where nothing else holds `left` and the operation leaves alone what
/// `right` does not touch, only the touched part is rebuilt: adding blocks one by one costs as much as the ranges they touch.
pub(crate) fn apply(mut left: Link, op: Op, right: &Link) -> Option<Link> {
    let mut combiner = Combiner::new(op);
    if op.keeps(true, false)
        && let Some(node) = Arc::get_mut(&mut left.0)
    {
        let change = match (&mut node.level, &right.level) {
            (Level::Leaf(spans), Level::Leaf(added)) => {
                Some(splice(spans, added, |_| (1, 1), |spans, added| combiner.leaf(spans, added)))
            }
            (Level::Inner(spans), Level::Inner(added)) => {
                let counts = |down: &Link| (down.elements, down.blocks);
                Some(splice(spans, added, counts, |spans, added| combiner.inner(spans, added)))
            }
            // Callers check ranks; trees of one rank have leaves at one depth.
            _ => None,
        };
        if let Some(change) = change {
            node.count(&change);
            return (node.len() > 0).then_some(left);
        }
    }
    combiner.pair(&left, right)
}

/// What a change did: elements and blocks that went and that came.
struct Change {
    gone: (u64, u64),
    come: (u64, u64),
}

/// Replaces the ranges of `spans` that `added` touches by what `merge` makes of them.
fn splice<T>(
    spans: &mut Vec<Span<T>>,
    added: &[Span<T>],
    counts: impl Fn(&T) -> (u64, u64),
    merge: impl FnOnce(&[Span<T>], &[Span<T>]) -> Vec<Span<T>>,
) -> Change {
    let (low, high) = (added.first().map_or(0, |span| span.start), added.last().map_or(0, |span| span.end));
    // Ranges that only touch are part of the window: they may merge with what comes in.
    let from = spans.partition_point(|span| span.end < low);
    let to = spans.partition_point(|span| span.start <= high).max(from);
    let sum = |spans: &[Span<T>]| {
        spans.iter().fold((0u64, 0u64), |(elements, blocks), span| {
            let (each, below) = counts(&span.down);
            (elements.saturating_add(span.len().saturating_mul(each)), blocks.saturating_add(below))
        })
    };
    let window = spans.get(from..to).unwrap_or_default();
    let changed = merge(window, added);
    let change = Change { gone: sum(window), come: sum(&changed) };
    spans.splice(from..to, changed);
    change
}

impl Node {
    /// Brings the counts up to date after a change. Counts that stopped at the largest number are made anew.
    fn count(&mut self, change: &Change) {
        self.before.take();
        self.content.take();
        if self.elements == u64::MAX || self.blocks == u64::MAX {
            (self.elements, self.blocks) = match &self.level {
                Level::Leaf(spans) => (total(spans, |()| 1), spans.len() as u64),
                Level::Inner(spans) => {
                    let blocks = spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.down.blocks));
                    (total(spans, |down| down.elements), blocks)
                }
            };
        } else {
            self.elements = (self.elements - change.gone.0).saturating_add(change.come.0);
            self.blocks = (self.blocks - change.gone.1).saturating_add(change.come.1);
        }
    }
}

struct Combiner {
    op: Op,
    known: HashMap<(usize, usize), Option<Link>>,
}

impl Combiner {
    fn new(op: Op) -> Combiner {
        Combiner { op, known: HashMap::new() }
    }

    fn pair(&mut self, left: &Link, right: &Link) -> Option<Link> {
        if left.is(right) {
            return self.op.keeps(true, true).then(|| left.clone());
        }
        if !left.is_shared() && !right.is_shared() {
            return self.nodes(left, right);
        }
        let pair = (left.id(), right.id());
        if let Some(known) = self.known.get(&pair) {
            return known.clone();
        }
        let result = self.nodes(left, right);
        self.known.insert(pair, result.clone());
        result
    }

    fn nodes(&mut self, left: &Node, right: &Node) -> Option<Link> {
        match (&left.level, &right.level) {
            (Level::Leaf(left), Level::Leaf(right)) => Link::leaf(self.leaf(left, right)),
            (Level::Inner(left), Level::Inner(right)) => Link::inner(self.inner(left, right)),
            // Callers check ranks; trees of one rank have leaves at one depth.
            _ => None,
        }
    }

    fn leaf(&self, left: &[Span<()>], right: &[Span<()>]) -> Vec<Span<()>> {
        span::merge(left, right, |left, right| self.op.keeps(left.is_some(), right.is_some()).then_some(()))
    }

    fn inner(&mut self, left: &[Span<Link>], right: &[Span<Link>]) -> Vec<Span<Link>> {
        span::merge(left, right, |left, right| match (left, right) {
            (Some(left), Some(right)) => self.pair(left, right),
            (left, right) => {
                let kept = self.op.keeps(left.is_some(), right.is_some());
                left.or(right).filter(|_| kept).cloned()
            }
        })
    }
}
