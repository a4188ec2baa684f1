//! The walk that finds runs, one way per kind of selection.

use super::{
    Batch, Run,
    loops::{LoopWalk, Loops},
};
use crate::{
    Points,
    span::Span,
    tree::{Level, Link, Node},
};

#[derive(Clone, Debug)]
pub(super) enum Walk<'a> {
    Done,
    Loops(LoopWalk),
    Tree(TreeWalk<'a>),
    Points { points: &'a Points, next: usize, strides: Vec<u64>, element_size: u64 },
}

impl<'a> Walk<'a> {
    pub(super) fn loops(loops: Loops) -> Walk<'a> {
        Walk::Loops(LoopWalk::new(loops))
    }

    pub(super) fn points(points: &'a Points, strides: Vec<u64>, element_size: u64) -> Walk<'a> {
        Walk::Points { points, next: 0, strides, element_size }
    }

    pub(super) fn tree(root: &'a Link, strides: Vec<u64>, element_size: u64) -> Walk<'a> {
        let mut walk = TreeWalk { path: Vec::new(), leaf: &[], leaf_base: 0, strides, element_size };
        walk.enter(root, 0);
        Walk::Tree(walk)
    }

    /// Appends runs until there is no room or all are found.
    pub(super) fn fill(&mut self, batch: &mut Batch<'_>) {
        match self {
            Walk::Done => {}
            Walk::Loops(walk) => walk.fill(batch),
            Walk::Tree(walk) => walk.fill(batch),
            Walk::Points { points, next, strides, element_size } => {
                let size = *element_size;
                let offset =
                    |point: &[u64]| point.iter().zip(strides.iter()).map(|(index, stride)| index * stride).sum();
                let mut run: Option<Run> = None;
                for point in points.iter_from(*next) {
                    let offset = offset(point);
                    if let Some(run) = run.as_mut().filter(|run| run.end() == offset) {
                        run.len += size;
                    } else {
                        if run.is_some_and(|run| !batch.push(run)) {
                            return;
                        }
                        *next += run.map_or(0, |run| (run.len / size) as usize);
                        run = Some(Run { offset, len: size });
                    }
                }
                if let Some(run) = run
                    && batch.push(run)
                {
                    *next += (run.len / size) as usize;
                }
            }
        }
    }
}

/// From the root to a leaf, and what of the leaf is left.
#[derive(Clone, Debug)]
pub(super) struct TreeWalk<'a> {
    path: Vec<Step<'a>>,
    leaf: &'a [Span<()>],
    leaf_base: u64,
    /// Bytes from one index to the next, per dimension.
    strides: Vec<u64>,
    element_size: u64,
}

#[derive(Clone, Debug)]
struct Step<'a> {
    /// Ranges left, the current one first.
    spans: &'a [Span<Link>],
    /// The current index in the current range.
    index: u64,
    base: u64,
}

impl<'a> TreeWalk<'a> {
    fn enter(&mut self, node: &'a Node, base: u64) {
        match &node.level {
            Level::Leaf(spans) => (self.leaf, self.leaf_base) = (spans, base),
            Level::Inner(spans) => {
                let index = spans.first().map_or(0, |span| span.start);
                self.path.push(Step { spans, index, base });
            }
        }
    }

    fn fill(&mut self, batch: &mut Batch<'_>) {
        loop {
            if !self.fill_from_leaf(batch) || !self.next_row(batch) {
                return;
            }
        }
    }

    /// Appends the rest of the leaf; `false` if there is no room. Only its first run can touch what is there.
    fn fill_from_leaf(&mut self, batch: &mut Batch<'_>) -> bool {
        let (base, size) = (self.leaf_base, self.element_size);
        let run = |span: &Span<()>| Run { offset: base + span.start * size, len: span.len() * size };
        if let Some((first, rest)) = self.leaf.split_first() {
            if !batch.push(run(first)) {
                return false;
            }
            let room = rest.len().min(batch.room());
            let (now, later) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            batch.out.extend(now.iter().map(run));
            self.leaf = later;
        }
        self.leaf.is_empty()
    }

    /// Enters the next row, or appends a whole range of full rows at once; `false` at the end or if there is no room.
    fn next_row(&mut self, batch: &mut Batch<'_>) -> bool {
        loop {
            let depth = self.path.len();
            let Some(step) = self.path.last_mut() else { return false };
            let Some((span, rest)) = step.spans.split_first() else {
                self.path.pop();
                continue;
            };
            let Some(stride) = self.strides.get(depth - 1) else { return false };
            let base = step.base + step.index * stride;
            let next_span = |step: &mut Step<'a>| {
                step.spans = rest;
                step.index = rest.first().map_or(0, |span| span.start);
            };
            if span.down.elements * self.element_size == *stride {
                if !batch.push(Run { offset: base, len: (span.end - step.index) * stride }) {
                    return false;
                }
                next_span(step);
                continue;
            }
            step.index += 1;
            if step.index == span.end {
                next_span(step);
            }
            self.enter(&span.down, base);
            if !self.leaf.is_empty() {
                return true;
            }
        }
    }
}
