//! Section 0 of a sparse chunk: which elements are defined, as an encoded dataspace with the chunk's extent.
//!
//! Writers take the encoding that is smallest after the filters. Readers take any.

use std::ops::Range;

use hyperslab_base::{lookup3, memory};
use hyperslab_space::{Form, Kind, Space};

use super::packed_elements::MOST_RUNS;
use crate::{Error, Result};

/// Two encodings are both tried if the larger one has no more than so many times the bytes of the other: filters may turn that round, but not more.
const COMPARABLE: u64 = 16;

/// The encodings of the defined elements of a chunk that may be the smallest after filters, with their checksums; without filters, the smallest.
pub(super) fn encode(chunk: &[u64], runs: impl Iterator<Item = Range<u32>>, filtered: bool) -> Result<Vec<Vec<u8>>> {
    let mut space = Space::simple(chunk)?;
    space.select_row_major(runs.map(|run| u64::from(run.start)..u64::from(run.end)))?;
    let (blocks, points) = (space.encoded_bytes()?, space.encoded_points_bytes());
    let is_comparable = blocks.max(points) / COMPARABLE <= blocks.min(points);
    let mut encodings = Vec::with_capacity(2);
    if blocks <= points || filtered && is_comparable {
        encodings.push(space.encode(Form::Smallest)?);
    }
    if points < blocks || filtered && is_comparable {
        encodings.push(space.encode_as_points()?);
    }
    for encoding in &mut encodings {
        let checksum = lookup3(encoding);
        encoding.extend_from_slice(&checksum.to_le_bytes());
    }
    Ok(encodings)
}

/// The most bytes of a section that tells of so many elements of a chunk with so many dimensions, however it is encoded.
pub(super) fn most_bytes(elements: u64, rank: usize) -> u64 {
    // An extent with its largest sizes, heads, and two corners of eight bytes in each dimension for each element.
    let rank = rank as u64;
    elements.saturating_add(2).saturating_mul(16 * rank).saturating_add(64)
}

/// The defined elements that a section, without its checksum, tells of, in its order.
pub(super) fn decode(chunk: &[u64], section: &[u8]) -> Result<Space, String> {
    let space = Space::decode(section).map_err(|why| why.to_string())?;
    if space.dims() != chunk {
        return Err(format!("an extent of {:?}, but chunks have {chunk:?}", space.dims()));
    }
    space.check_inside().map_err(|why| why.to_string())?;
    // A pattern of few bytes may have any number of runs, and each takes memory.
    let is_long = space.npoints() > MOST_RUNS;
    if is_long && runs(&space).map_err(|why| why.to_string())?.nth(MOST_RUNS as usize).is_some() {
        return Err(format!("more than {MOST_RUNS} runs of defined elements"));
    }
    Ok(space)
}

/// The numbers of elements in runs, in the order of a section.
pub(super) fn runs(space: &Space) -> Result<impl Iterator<Item = Range<u32>> + '_> {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(space.runs(1)?.map(move |run| number(run.offset)..number(run.end())))
}

/// Whether elements come by rising number, each once. Points may come in any order.
pub(super) fn is_rising(space: &Space) -> Result<bool> {
    Ok(space.kind() != Kind::Points || runs(space)?.is_sorted_by(|left, right| left.end <= right.start))
}

/// The numbers of points that come in any order, rising, with the place of each in that order. An element that is named twice is refused.
pub(super) fn sorted(space: &Space) -> Result<Vec<(u32, usize)>> {
    let mut sorted = memory::with_room(usize::try_from(space.npoints()).unwrap_or(usize::MAX))?;
    sorted.extend(runs(space)?.flatten().enumerate().map(|(nth, number)| (number, nth)));
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| matches!(pair, [(left, _), (right, _)] if left == right)) {
        Some([(number, _), ..]) => Err(Error::Layout(format!("element {number} is named twice"))),
        _ => Ok(sorted),
    }
}
