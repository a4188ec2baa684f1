//! The places that a box of ordinals takes in row-major order.

use std::ops::Range;

use crate::{Slab, Space};

/// An array of `counts` elements per dimension, and a range in each: the places of the elements in all ranges.
pub(super) fn places_of_box(counts: &[u64], ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let slabs: Vec<Slab> = ranges.map(|range| Slab::block(range.start, range.end - range.start)).collect();
    let selected = Space::simple(counts).and_then(|mut space| {
        space.select_hyperslab(crate::Op::Set, &slabs)?;
        Ok(space.runs(1)?.map(|run| run.offset..run.end()).collect())
    });
    selected.unwrap_or_default()
}
