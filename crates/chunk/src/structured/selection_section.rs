//! Section 0 of a sparse chunk: which elements are defined, as an encoded dataspace with the chunk's extent.
//!
//! Writers take the encoding that is smallest after the filters. Readers take any.

use std::ops::Range;

use hyperslab_base::{Width, lookup3, memory};
use hyperslab_space::{ElementRuns, EncodedSpace, Extent, Form, Kind, Space};

use super::packed_elements::MOST_RUNS;
use crate::{Error, Result, transfer::scatter::outside};

/// Two encodings are both tried if the larger one has no more than so many times the bytes of the other: filters may turn that round, but not more.
const COMPARABLE: u64 = 16;

/// So many runs tell whether elements may be a pattern.
const FIRST: usize = 16;

/// More than the heads of two encodings differ, in elements.
const HEAD: u64 = 16;

/// About the memory that a run of elements takes as part of a dataspace, and for each dimension of it.
const RUN: u64 = 96;
const NUMBERS: u64 = 24;

/// The encodings of the defined elements of a chunk that may be the smallest after filters, with their checksums; without filters, the smallest.
pub(super) fn encode(chunk: &[u64], runs: impl Iterator<Item = Range<u32>>, filtered: bool) -> Result<Vec<Vec<u8>>> {
    let mut list = Vec::new();
    for run in runs {
        memory::reserve(&mut list, 1)?;
        list.push(u64::from(run.start)..u64::from(run.end));
    }
    let elements = ElementRuns::new(Extent::simple(chunk)?, list)?;
    // A block has two corners. Where blocks take half as much again as points, and say the same, filters do not turn that round.
    let enough = elements.len().saturating_add(if filtered { elements.len() / 2 } else { HEAD });
    if least_blocks(&elements).saturating_mul(2) >= enough && !begins_regularly(&elements)? {
        return Ok(vec![with_checksum(elements.encode_as_points()?)]);
    }
    let space = elements.to_space()?;
    drop(elements);
    let (blocks, points) = (space.encoded_bytes()?, space.encoded_points_bytes());
    let is_comparable = blocks.max(points) / COMPARABLE <= blocks.min(points);
    let mut encodings = Vec::with_capacity(2);
    if blocks <= points || filtered && is_comparable {
        encodings.push(space.encode(Form::Smallest)?);
    }
    if points < blocks || filtered && is_comparable {
        encodings.push(space.encode_as_points()?);
    }
    Ok(encodings.into_iter().map(with_checksum).collect())
}

fn with_checksum(mut encoding: Vec<u8>) -> Vec<u8> {
    let checksum = lookup3(&encoding);
    encoding.extend_from_slice(&checksum.to_le_bytes());
    encoding
}

/// Whether elements may be a regular pattern, which takes a few bytes however many there are: the first rows of their first plane are one then.
fn begins_regularly(elements: &ElementRuns) -> Result<bool> {
    let dims = elements.extent().dims();
    let row = dims.last().copied().unwrap_or(1).max(1);
    let plane = dims.iter().rev().take(2).fold(1u64, |size, dim| size.saturating_mul(*dim)).max(1);
    let end = elements.runs().first().map_or(0, |run| (run.start / plane).saturating_add(1).saturating_mul(plane));
    let (first, later) = elements.runs().split_at_checked(FIRST).unwrap_or((elements.runs(), &[]));
    // The last row may go on behind these runs.
    let begun = first.last().filter(|_| !later.is_empty()).map(|run| run.start / row * row);
    let is_one_row = first.first().is_none_or(|run| begun.is_none_or(|begun| run.start >= begun));
    let end = end.min(begun.filter(|_| !is_one_row).unwrap_or(u64::MAX));
    let runs = first.iter().filter(|run| run.start < end).map(|run| run.start..run.end.min(end));
    let mut space = Space::new(elements.extent().clone());
    space.select_row_major(runs)?;
    Ok(space.kind() != Kind::Hyperslab || space.regular().is_some())
}

/// No list of blocks has fewer: a run shares its block with others only if the same one lies one step before it in a dimension.
fn least_blocks(elements: &ElementRuns) -> u64 {
    let (runs, mut shared) = (elements.runs(), 0);
    let mut stride = 1u64;
    for size in elements.extent().dims().iter().skip(1).rev() {
        stride = stride.saturating_mul(*size);
        let mut before = runs.iter().peekable();
        let moved = |run: &Range<u64>| (run.start.saturating_add(stride), run.end.saturating_add(stride));
        for run in runs {
            while before.next_if(|before| moved(before) < (run.start, run.end)).is_some() {}
            shared += u64::from(before.peek().is_some_and(|before| moved(before) == (run.start, run.end)));
        }
    }
    (runs.len() as u64).saturating_sub(shared)
}

/// About the memory that it takes to encode so many elements in so many runs.
pub(super) fn encoding_memory(chunk: &[u64], (elements, runs): (u64, u64), filtered: bool) -> u64 {
    let rank = chunk.len() as u64;
    let largest = chunk.iter().copied().max().unwrap_or_default();
    let coord = rank * Width::of_selection(largest.max(elements)).bytes() as u64;
    let (blocks, points) = (runs.saturating_mul(2 * coord), elements.saturating_mul(coord));
    let (less, more) = (blocks.min(points), blocks.max(points));
    // The larger one is made if filters may turn the order round. Beside both, there is what comes out of a filter.
    let lists =
        if filtered { less.saturating_add(more.min(less.saturating_mul(COMPARABLE)).saturating_mul(3)) } else { less };
    runs.saturating_mul(RUN + NUMBERS * rank).saturating_add(lists)
}

/// The most bytes of a section that tells of so many elements of a chunk with so many dimensions, however it is encoded.
pub(super) fn most_bytes(elements: u64, rank: usize) -> u64 {
    // An extent with its largest sizes, heads, and two corners of eight bytes in each dimension for each element.
    let rank = rank as u64;
    elements.saturating_add(2).saturating_mul(16 * rank).saturating_add(64)
}

/// Which elements of a chunk are defined.
pub(super) enum Defined {
    /// As many as have values: runs of their numbers, in the order of their section.
    Runs(Vec<Range<u32>>),
    /// So many, not as many as have values.
    Other(u64),
}

/// The defined elements that a section, without its checksum, tells of, where so many have values.
pub(super) fn decode(chunk: &[u64], section: &[u8], with_values: u64) -> Result<Defined> {
    let space = EncodedSpace::read(section)?;
    if space.extent().dims() != chunk {
        let why = format!("an extent of {:?}, but chunks have {chunk:?}", space.extent().dims());
        return Err(Error::Layout(why));
    }
    if with_values > MOST_RUNS {
        // A pattern of few bytes may have any number of runs, and each takes memory.
        let (mut count, mut end) = (0, None);
        let counted = walk(&space, with_values, |run| {
            count += u64::from(end != Some(run.start));
            end = Some(run.end);
            if count <= MOST_RUNS { Ok(()) } else { Err(too_many_runs()) }
        });
        if let (Err(why), Some(_)) = counted {
            return Err(why);
        }
    }
    let mut runs: Vec<Range<u32>> = Vec::new();
    let walked = walk(&space, with_values, |run| {
        if let Some(last) = runs.last_mut().filter(|last| last.end == run.start) {
            last.end = run.end;
        } else {
            memory::reserve(&mut runs, 1)?;
            runs.push(run);
        }
        Ok(())
    });
    match walked {
        (Ok(()), Some(0)) => Ok(Defined::Runs(runs)),
        (Ok(()), left) => Ok(Defined::Other(with_values - left.unwrap_or_default())),
        (Err(_), None) => {
            let space = space.to_space()?;
            space.check_inside()?;
            Ok(Defined::Other(space.npoints()))
        }
        (Err(why), Some(_)) => Err(why),
    }
}

/// Calls `each` for runs of selected elements, as long as no more come than have values. How many values are left; nothing, and an error, if there are more elements.
fn walk(
    space: &EncodedSpace<'_>,
    with_values: u64,
    mut each: impl FnMut(Range<u32>) -> Result<()>,
) -> (Result<()>, Option<u64>) {
    let mut left = Some(with_values);
    let walked = space.for_each_run(|run| {
        left = left.and_then(|left| left.checked_sub(run.end - run.start));
        if left.is_none() {
            return Err(Error::Layout("more elements than have values".into()));
        }
        let number = |number: u64| u32::try_from(number).map_err(|_| outside());
        each(number(run.start)?..number(run.end)?)
    });
    (walked, left)
}

fn too_many_runs() -> Error {
    Error::Layout(format!("more than {MOST_RUNS} runs of defined elements"))
}

/// How many elements runs have.
pub(super) fn count(runs: &[Range<u32>]) -> u64 {
    runs.iter().map(|run| run.len() as u64).sum()
}

/// Whether elements come by rising number, each once. Points may come in any order.
pub(super) fn is_rising(runs: &[Range<u32>]) -> bool {
    runs.is_sorted_by(|left, right| left.end <= right.start)
}

/// The numbers of elements that come in any order, rising, with the place of each in that order. An element that is named twice is refused.
pub(super) fn sorted(runs: &[Range<u32>]) -> Result<Vec<(u32, usize)>> {
    let mut sorted = memory::with_room(usize::try_from(count(runs)).unwrap_or(usize::MAX))?;
    sorted.extend(runs.iter().cloned().flatten().enumerate().map(|(nth, number)| (number, nth)));
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| matches!(pair, [(left, _), (right, _)] if left == right)) {
        Some([(number, _), ..]) => Err(Error::Layout(format!("element {number} is named twice"))),
        _ => Ok(sorted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of which `is_defined` says so, as runs.
    fn runs(chunk: &[u64], is_defined: impl Fn(&[u64]) -> bool) -> Vec<Range<u32>> {
        let all = Space::simple(chunk).unwrap();
        let coords = all.coords().unwrap();
        let mut runs: Vec<Range<u32>> = Vec::new();
        for (number, _) in (0u32..).zip(coords).filter(|(_, coord)| is_defined(coord)) {
            match runs.last_mut() {
                Some(last) if last.end == number => last.end += 1,
                _ => runs.push(number..number + 1),
            }
        }
        runs
    }

    #[test]
    fn without_filters_the_smallest_encoding_is_taken() {
        let random = |coord: &[u64], parts: u64| {
            let mixed = coord.iter().fold(7u64, |mixed, index| (mixed ^ index).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            (mixed >> 40) % parts == 0
        };
        type Case<'a> = (&'a [u64], &'a dyn Fn(&[u64]) -> bool);
        let cases: [Case<'_>; 12] = [
            (&[1000], &|at| at[0] % 2 == 1),
            (&[1000], &|at| random(at, 3)),
            (&[40, 50], &|at| at[1] == 7),
            (&[40, 50], &|at| at[0] % 2 == 1 && [7, 30].contains(&at[1])),
            (&[40, 50], &|at| at[0] % 3 == 1 && at[1] % 2 == 0),
            (&[40, 50], &|at| at[0] % 10 < 2 && at[1] % 10 < 2),
            (&[40, 50], &|at| at[0] == 3 && at[1] % 2 == 0 || at == [17, 1]),
            (&[4, 50, 3], &|at| at[0] % 2 == 0 && at[1] % 7 == 3 && at[2] != 1),
            (&[100, 100], &|at| random(at, 20)),
            (&[100, 100], &|at| random(at, 2)),
            (&[1, 100, 100], &|at| random(&[at[1] / 3, at[2] / 3], 9) && random(at, 2)),
            (&[300, 2], &|at| random(at, 2)),
        ];
        for (nth, (chunk, is_defined)) in cases.into_iter().enumerate() {
            let runs = runs(chunk, is_defined);
            let mut space = Space::simple(chunk).unwrap();
            space.select_row_major(runs.iter().map(|run| u64::from(run.start)..u64::from(run.end))).unwrap();
            let smallest = space.encoded_bytes().unwrap().min(space.encoded_points_bytes()) + 4;
            let encodings = encode(chunk, runs.iter().cloned(), false).unwrap();
            assert_eq!(encodings.iter().map(|bytes| bytes.len() as u64).collect::<Vec<_>>(), [smallest], "{nth}");
            for encoding in encode(chunk, runs.iter().cloned(), true).unwrap() {
                let elements = count(&runs);
                let decoded = decode(chunk, &encoding[..encoding.len() - 4], elements).unwrap();
                assert!(matches!(decoded, Defined::Runs(decoded) if decoded == runs), "{nth}");
            }
        }
    }
}
