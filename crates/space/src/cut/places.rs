//! The places that a box of ordinals takes in row-major order.

use std::ops::Range;

use crate::{Error, Op, Result, Slab, Space, tree::MAX_RANGES};

/// An array of `counts` elements per dimension, and a range in each: the places of the elements in all ranges.
pub(super) fn places_of_box(counts: &[u64], ranges: impl Iterator<Item = Range<u64>>) -> Result<Vec<Range<u64>>> {
    let slabs: Vec<Slab> = ranges.map(|range| Slab::block(range.start, range.end - range.start)).collect();
    let mut space = Space::simple(counts)?;
    space.select_hyperslab(Op::Set, &slabs)?;
    let mut places = Vec::new();
    for run in space.runs(1)? {
        if places.len() as u64 >= MAX_RANGES {
            return Err(Error::TooComplex(MAX_RANGES));
        }
        places.push(run.offset..run.end());
    }
    Ok(places)
}
