//! Making trees: from a list of ranges per dimension, and from any list of blocks.

use super::Link;
use crate::{
    Error,
    slab::Parts,
    span::{self, Span},
};

/// The most ranges that a pattern may fall into. A pattern of four numbers can name more than any memory holds.
pub(crate) const MAX_RANGES: u64 = 1 << 26;

/// The tree of a product: every combination of one index from each dimension. One node per dimension.
pub(crate) fn product(dims: &[Parts]) -> Result<Option<Link>, Error> {
    let ranges = dims.iter().flatten().fold(0u64, |sum, slab| sum.saturating_add(slab.normal().count));
    if ranges > MAX_RANGES {
        return Err(Error::TooComplex(ranges));
    }
    Ok(expand(dims))
}

fn expand(dims: &[Parts]) -> Option<Link> {
    let mut below: Option<Link> = None;
    for parts in dims.iter().rev() {
        let ranges = parts.iter().flat_map(|slab| slab.normal().spans());
        below = Some(match below {
            None => Link::leaf(canonical(ranges.collect()))?,
            Some(down) => {
                let ranges = canonical(ranges.collect());
                let with_down = |span: Span<()>| Span { start: span.start, end: span.end, down: down.clone() };
                Link::inner(ranges.into_iter().map(with_down).collect())?
            }
        });
    }
    below
}

/// How much work and memory a tree may cost; hostile lists of overlapping blocks grow with a power of their length. A step is a look at
/// one block, or a few bytes of the tree.
pub(crate) struct Budget(u64);

/// The steps that the memory of a node costs.
const NODE_STEPS: usize = 32;
/// The steps that the memory of a range in a node costs.
const RANGE_STEPS: usize = 4;

/// The budget was not enough.
#[derive(Debug)]
pub(crate) struct TooComplex;

impl Budget {
    /// No limit: for lists that the program itself made.
    pub(crate) fn unbounded() -> Budget {
        Budget(u64::MAX)
    }

    /// Enough for any list of `blocks` blocks in tree order that do not overlap, with room for unusual writers. In tree order, a block has at
    /// most one node and one range in each dimension and is looked at twice there: 38 steps.
    pub(crate) fn for_decoding(blocks: usize, rank: usize) -> Budget {
        let blocks = blocks as u64;
        Budget(blocks.saturating_mul(rank as u64).saturating_mul(64).saturating_add(1 << 22))
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooComplex> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(TooComplex)?;
        Ok(())
    }
}

/// The tree of a union of blocks. `ranges[dim][n]` is the n-th block's range in that dimension; no range is empty.
///
/// Sweeps the first dimension: between two neighbouring borders the set of blocks does not change, and its union in
/// the further dimensions is the content of that range.
pub(crate) fn union(ranges: &[Vec<(u64, u64)>], budget: &mut Budget) -> Result<Option<Link>, TooComplex> {
    let blocks = ranges.first().map_or(0, Vec::len);
    union_of(ranges, (0..blocks).collect(), budget)
}

fn union_of(
    ranges: &[Vec<(u64, u64)>],
    mut members: Vec<usize>,
    budget: &mut Budget,
) -> Result<Option<Link>, TooComplex> {
    let Some((here, further)) = ranges.split_first() else { return Ok(None) };
    budget.spend(NODE_STEPS + members.len())?;
    let range = |&member: &usize| here.get(member).copied().unwrap_or_default();
    if further.is_empty() {
        budget.spend(RANGE_STEPS * members.len())?;
        let spans = members.iter().map(range).map(|(start, end)| Span { start, end, down: () }).collect();
        return Ok(Link::leaf(canonical(spans)));
    }
    members.sort_by_key(range);
    let mut waiting = members.iter().copied().peekable();
    let mut active: Vec<usize> = Vec::new();
    let mut spans = Vec::new();
    let mut at = 0;
    loop {
        active.retain(|member| range(member).1 > at);
        if active.is_empty() {
            let Some(next) = waiting.peek() else { break };
            at = range(next).0;
        }
        while let Some(member) = waiting.next_if(|member| range(member).0 <= at) {
            active.push(member);
        }
        budget.spend(RANGE_STEPS + active.len())?;
        let ends = active.iter().map(|member| range(member).1).min();
        let begins = waiting.peek().map(|member| range(member).0);
        let Some(end) = ends.into_iter().chain(begins).min() else { break };
        if let Some(down) = union_of(further, active.clone(), budget)? {
            span::push(&mut spans, Span { start: at, end, down });
        }
        at = end;
    }
    Ok(Link::inner(spans))
}

/// Any list of ranges as a canonical one.
fn canonical(mut spans: Vec<Span<()>>) -> Vec<Span<()>> {
    let in_order = spans.is_sorted_by(|left, right| left.end < right.start);
    if in_order {
        return spans;
    }
    spans.sort_unstable_by_key(|span| span.start);
    let mut merged: Vec<Span<()>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.end >= span.start => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}
