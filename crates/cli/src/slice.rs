//! Shapes such as `6x10` and slices such as `1:4, ::2`, and what they mean for an array.

use hyperslab::space::Slab;
use std::str::FromStr;
use thiserror::Error;

/// What is wrong with a shape or a slice.
#[derive(Debug, Error)]
pub(crate) enum SliceError {
    #[error("`{0}` is not a whole number")]
    Number(String),
    #[error("`{0}` has more than four parts: start:stop:step:block")]
    Parts(String),
    #[error("the slice has {given} dimensions, but the array has {rank}")]
    Rank { given: usize, rank: usize },
    #[error("index {index} lies outside dimension {dimension} of size {size}")]
    Outside { index: i64, dimension: usize, size: u64 },
    #[error("a step and a block must be at least 1, and a step no shorter than its block")]
    Step,
}

/// The size of an array.
#[derive(Clone)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

impl FromStr for Shape {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Shape, SliceError> {
        text.split(['x', '×', ',']).map(|size| number(size.trim())).collect::<Result<_, _>>().map(Shape)
    }
}

/// One range per dimension, not yet bound to an array.
#[derive(Clone)]
pub(crate) struct Slice {
    ranges: Vec<Range>,
    /// As it was given.
    text: String,
}

#[derive(Clone)]
enum Range {
    Index(i64),
    Steps { start: Option<i64>, stop: Option<i64>, step: Option<u64>, block: Option<u64> },
}

impl FromStr for Slice {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Slice, SliceError> {
        let ranges = text.split(',').map(|range| range.trim().parse()).collect::<Result<_, _>>()?;
        Ok(Slice { ranges, text: text.trim().into() })
    }
}

impl std::fmt::Display for Slice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl FromStr for Range {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Range, SliceError> {
        if !text.contains(':') {
            return number(text).map(Range::Index);
        }
        let mut parts = text.split(':').map(str::trim);
        let range = Range::Steps {
            start: optional(parts.next())?,
            stop: optional(parts.next())?,
            step: optional(parts.next())?,
            block: optional(parts.next())?,
        };
        if parts.next().is_some() { Err(SliceError::Parts(text.into())) } else { Ok(range) }
    }
}

fn number<N: FromStr>(text: &str) -> Result<N, SliceError> {
    text.parse().map_err(|_| SliceError::Number(text.into()))
}

fn optional<N: FromStr>(text: Option<&str>) -> Result<Option<N>, SliceError> {
    text.filter(|text| !text.is_empty()).map(number).transpose()
}

impl Slice {
    /// One pattern per dimension of an array of this shape.
    pub(crate) fn slabs(&self, shape: &Shape) -> Result<Vec<Slab>, SliceError> {
        let (given, rank) = (self.ranges.len(), shape.0.len());
        if given > rank {
            return Err(SliceError::Rank { given, rank });
        }
        let whole = Range::Steps { start: None, stop: None, step: None, block: None };
        let ranges = self.ranges.iter().chain(std::iter::repeat(&whole));
        shape.0.iter().zip(ranges).enumerate().map(|(dimension, (&size, range))| range.slab(dimension, size)).collect()
    }
}

impl Slice {
    /// For each dimension, whether it stays one: a single index takes it away, as in NumPy.
    pub(crate) fn keeps(&self) -> impl Iterator<Item = bool> {
        let given = self.ranges.iter().map(|range| matches!(range, Range::Steps { .. }));
        given.chain(std::iter::repeat(true))
    }
}

impl Range {
    fn slab(&self, dimension: usize, size: u64) -> Result<Slab, SliceError> {
        match *self {
            Range::Index(index) => {
                let at = from_either_end(index, size).filter(|at| *at < size);
                at.map(|at| Slab::block(at, 1)).ok_or(SliceError::Outside { index, dimension, size })
            }
            Range::Steps { start, stop, step, block } => {
                let start = start.map_or(0, |start| from_either_end(start, size).unwrap_or(0)).min(size);
                let stop = stop.map_or(size, |stop| from_either_end(stop, size).unwrap_or(0)).clamp(start, size);
                steps(start, stop, step, block)
            }
        }
    }
}

/// Whole blocks between `start` and `stop`.
fn steps(start: u64, stop: u64, step: Option<u64>, block: Option<u64>) -> Result<Slab, SliceError> {
    let block = block.unwrap_or(1);
    let step = step.unwrap_or(block);
    if block == 0 || step < block {
        return Err(SliceError::Step);
    }
    let room = stop - start;
    if step == block {
        // Blocks that touch are one block.
        return Ok(Slab::block(start, room - room % block));
    }
    let count = if room < block { 0 } else { (room - block) / step + 1 };
    Ok(Slab::new(start, step, count, block))
}

/// Negative numbers count from the end, as in NumPy.
fn from_either_end(index: i64, size: u64) -> Option<u64> {
    u64::try_from(index).ok().or_else(|| size.checked_sub(index.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(text: &str, size: u64) -> Slab {
        text.parse::<Slice>().unwrap().slabs(&Shape(vec![size])).unwrap()[0]
    }

    #[test]
    fn slices_mean_what_they_mean_in_numpy() {
        assert_eq!(slab("3", 10), Slab::block(3, 1));
        assert_eq!(slab("-1", 10), Slab::block(9, 1));
        assert_eq!(slab(":", 10), Slab::block(0, 10));
        assert_eq!(slab("2:-3", 10), Slab::block(2, 5));
        assert_eq!(slab("::3", 10), Slab::new(0, 3, 4, 1));
        assert_eq!(slab("1:8:3", 10), Slab::new(1, 3, 3, 1));
        assert_eq!(slab("7:100", 10), Slab::block(7, 3));
        assert_eq!(slab("5:2", 10).block, 0);
    }

    #[test]
    fn a_fourth_number_is_the_block() {
        assert_eq!(slab("0:10:5:3", 10), Slab::new(0, 5, 2, 3));
        assert_eq!(slab("0:7:5:3", 10), Slab::new(0, 5, 1, 3));
        assert_eq!(slab(":::2", 9), Slab::block(0, 8));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |text: &str| text.parse::<Slice>().and_then(|slice| slice.slabs(&Shape(vec![4]))).is_err();
        for text in ["4", "-5", "a", "1:2:0", "::2:3", "0:1:2:3:4", "0,0", ""] {
            assert!(refused(text), "{text}");
        }
    }
}
