//! The n-th element: which places the elements of one tree have in the order of another, and which elements stand at
//! given places. Both walk only what they touch.

use std::{collections::HashMap, ops::Range, rc::Rc};

use super::{Level, Link, MAX_RANGES, Node};
use crate::{
    Error,
    span::{self, Span},
};

/// The places, in the order of `tree`, of those of its elements that `other` holds too: sorted ranges.
pub(crate) fn ordinals(tree: &Node, other: &Node) -> Result<Vec<Range<u64>>, Error> {
    let mut places = Vec::new();
    Walk::default().nodes(tree, other, 0, &mut places)?;
    Ok(places)
}

/// What was found out about pairs of rows. Nodes are shared, so pairs come again.
#[derive(Default)]
struct Walk {
    known: HashMap<(usize, usize), Rc<Vec<Range<u64>>>>,
}

impl Walk {
    fn nodes(&mut self, tree: &Node, other: &Node, base: u64, out: &mut Vec<Range<u64>>) -> Result<(), Error> {
        let mut nth = other.get(0).map_or(0, |(start, ..)| tree.first_after(start));
        let mut theirs = tree.get(nth).map_or(0, |(start, ..)| other.first_after(start));
        while let (Some((start, end, down)), Some((other_start, other_end, other_down))) =
            (tree.get(nth), other.get(theirs))
        {
            let (low, high) = (start.max(other_start), end.min(other_end));
            if low < high {
                let before = base + tree.before(nth);
                match (down, other_down) {
                    (Some(down), Some(other_down)) => {
                        self.rows(down, other_down, before + (low - start) * down.elements, high - low, out)?;
                    }
                    _ => append(out, before + (low - start)..before + (high - start)),
                }
            }
            if end <= other_end {
                nth += 1;
            } else {
                theirs += 1;
            }
        }
        Ok(())
    }

    /// `count` rows with the same content on both sides: one is walked, the others repeat it.
    fn rows(
        &mut self,
        down: &Link,
        other: &Link,
        base: u64,
        count: u64,
        out: &mut Vec<Range<u64>>,
    ) -> Result<(), Error> {
        let row = self.row(down, other)?;
        match row.as_slice() {
            [] => return Ok(()),
            [whole] if whole.end - whole.start == down.elements => {
                append(out, base..base + count * down.elements);
                return Ok(());
            }
            _ => {}
        }
        let ranges = count.saturating_mul(row.len() as u64).saturating_add(out.len() as u64);
        if ranges > MAX_RANGES {
            return Err(Error::TooComplex(ranges));
        }
        for nth in 0..count {
            let base = base + nth * down.elements;
            for range in row.iter() {
                append(out, base + range.start..base + range.end);
            }
        }
        Ok(())
    }

    fn row(&mut self, down: &Link, other: &Link) -> Result<Rc<Vec<Range<u64>>>, Error> {
        let pair = (down.id(), other.id());
        if let Some(known) = self.known.get(&pair) {
            return Ok(known.clone());
        }
        let mut row = Vec::new();
        if down.is(other) {
            row.push(0..down.elements);
        } else {
            self.nodes(down, other, 0, &mut row)?;
        }
        let row = Rc::new(row);
        self.known.insert(pair, row.clone());
        Ok(row)
    }
}

/// Appends a range and merges it with the one before if they touch.
pub(crate) fn append(out: &mut Vec<Range<u64>>, range: Range<u64>) {
    match out.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => out.push(range),
    }
}

/// Sorted ranges of places, taken from the front piece by piece.
pub(crate) struct Ordinals<'a> {
    ranges: &'a [Range<u64>],
    /// How far into the first range we are.
    from: u64,
}

impl<'a> Ordinals<'a> {
    pub(crate) fn new(ranges: &'a [Range<u64>]) -> Ordinals<'a> {
        Ordinals { ranges, from: 0 }
    }

    /// What comes next below `limit`, without taking it.
    fn peek(&self, limit: u64) -> Option<Range<u64>> {
        let first = self.ranges.first()?;
        let start = first.start.max(self.from);
        (start < limit).then(|| start..first.end.min(limit))
    }

    /// Marks everything below `place` as taken.
    fn advance(&mut self, place: u64) {
        self.from = place;
        while let Some((first, rest)) = self.ranges.split_first() {
            if first.end > place {
                break;
            }
            self.ranges = rest;
        }
    }
}

/// The elements of `node` at the given places, where its first element has place `base`. Places after its last are left.
pub(crate) fn take(node: &Node, base: u64, places: &mut Ordinals<'_>) -> Option<Link> {
    let limit = base + node.elements;
    match &node.level {
        Level::Leaf(spans) => {
            let mut taken = Vec::new();
            while let Some(range) = places.peek(limit) {
                let nth = node.holding(range.start - base);
                let Some(span) = spans.get(nth) else { break };
                let first = base + node.before(nth);
                let end = range.end.min(first + span.len());
                let start = span.start + (range.start - first);
                span::push(&mut taken, Span { start, end: start + (end - range.start), down: () });
                places.advance(end);
            }
            Link::leaf(taken)
        }
        Level::Inner(spans) => {
            let mut taken = Vec::new();
            while let Some(range) = places.peek(limit) {
                let nth = node.holding(range.start - base);
                let Some(span) = spans.get(nth) else { break };
                let (first, width) = (base + node.before(nth), span.down.elements);
                let row = (range.start - first) / width;
                let row_first = first + row * width;
                let whole = ((range.end - row_first) / width).min(span.len() - row);
                let (rows, down) = if range.start == row_first && whole > 0 {
                    places.advance(row_first + whole * width);
                    (whole, Some(span.down.clone()))
                } else {
                    (1, take(&span.down, row_first, places))
                };
                let start = span.start + row;
                if let Some(down) = down {
                    span::push(&mut taken, Span { start, end: start + rows, down });
                }
            }
            Link::inner(taken)
        }
    }
}
