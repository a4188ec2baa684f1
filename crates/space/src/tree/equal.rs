//! Whether two trees hold the same elements, and a number to find equal trees by.
//!
//! Trees are canonical, so equal sets have equal trees. Nodes may be shared many times over, so a pair that was found equal is
//! remembered: without that the cost would double with each dimension.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{Level, Link, Node};

impl PartialEq for Link {
    fn eq(&self, other: &Link) -> bool {
        Comparison::default().equal(self, other)
    }
}

impl Eq for Link {}

impl Hash for Link {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content().hash(state);
    }
}

#[derive(Default)]
struct Comparison {
    /// Pairs of nodes known to be equal.
    known: HashSet<(usize, usize)>,
}

impl Comparison {
    fn equal(&mut self, left: &Link, right: &Link) -> bool {
        if left.is(right) {
            return true;
        }
        if left.elements != right.elements || left.blocks != right.blocks || left.len() != right.len() {
            return false;
        }
        match (&left.level, &right.level) {
            (Level::Leaf(left), Level::Leaf(right)) => left == right,
            (Level::Inner(left_spans), Level::Inner(right_spans)) => {
                let pair = (left.id(), right.id());
                self.known.contains(&pair) || {
                    let mut spans = left_spans.iter().zip(right_spans);
                    let equal = spans.all(|(left, right)| {
                        (left.start, left.end) == (right.start, right.end) && self.equal(&left.down, &right.down)
                    });
                    if equal && (left.is_shared() || right.is_shared()) {
                        self.known.insert(pair);
                    }
                    equal
                }
            }
            _ => false,
        }
    }
}

impl Node {
    /// A number that equal nodes share, made when first asked for.
    fn content(&self) -> u64 {
        *self.content.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            for (start, end, down) in self.ranges() {
                (start, end, down.map(|down| down.content())).hash(&mut hasher);
            }
            hasher.finish()
        })
    }
}
