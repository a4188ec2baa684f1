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

/// The combination of two trees of one rank; `None` is the empty set.
fn combine(left: &Link, op: Op, right: &Link) -> Option<Link> {
    Combiner::new(op).pair(left, right)
}

/// As [`combine`], with the result in `left`. Where nobody else holds `left` and the operation leaves alone what
/// `right` does not touch, only the touched part is rebuilt: adding blocks one by one costs as much as the rows they touch.
pub(crate) fn apply(mut left: Link, op: Op, right: &Link) -> Option<Link> {
    let (Some((low, ..)), Some((_, high, _))) = (right.get(0), right.get(right.len().wrapping_sub(1))) else {
        return combine(&left, op, right);
    };
    if !op.keeps(true, false) {
        return combine(&left, op, right);
    }
    let (Some(node), Level::Inner(added)) = (Arc::get_mut(&mut left.0), &right.level) else {
        return combine(&left, op, right);
    };
    let Level::Inner(spans) = &mut node.level else { return combine(&left, op, right) };
    // Ranges that only touch are part of the window: they may merge with what comes in.
    let from = spans.partition_point(|span| span.end < low);
    let to = spans.partition_point(|span| span.start <= high);
    let Some(window) = spans.get(from..to) else { return combine(&left, op, right) };
    let changed = Combiner::new(op).inner(window, added);
    let blocks = |spans: &[Span<Link>]| spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.down.blocks));
    let elements = |spans: &[Span<Link>]| total(spans, |down| down.elements);
    if node.elements == u64::MAX || node.blocks == u64::MAX {
        spans.splice(from..to, changed);
        (node.elements, node.blocks) = (elements(spans), blocks(spans));
    } else {
        let (old_elements, old_blocks) = (elements(window), blocks(window));
        node.elements = (node.elements - old_elements).saturating_add(elements(&changed));
        node.blocks = (node.blocks - old_blocks).saturating_add(blocks(&changed));
        spans.splice(from..to, changed);
    }
    node.before.take();
    (node.len() > 0).then_some(left)
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
            (Level::Leaf(left), Level::Leaf(right)) => Link::leaf(span::merge(left, right, |left, right| {
                self.op.keeps(left.is_some(), right.is_some()).then_some(())
            })),
            (Level::Inner(left), Level::Inner(right)) => Link::inner(self.inner(left, right)),
            // Callers check ranks; trees of one rank have leaves at one depth.
            _ => None,
        }
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
