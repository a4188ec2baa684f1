//! Slices: which part of a dataset is meant, in the spirit of NumPy and `ndarray`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_space::{Extent, Op, Slab, Space};

use crate::{Error, Result};

/// What is meant in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One index; the dimension is not in the result. Negative ones count from the end.
    At(i128),
    /// A range, and how far it is from one index to the next. Negative ends count from the end.
    Range {
        /// The first index.
        start: i128,
        /// The index behind the last one; `None` for the end of the dimension.
        end: Option<i128>,
        /// The distance; at least 1.
        step: i128,
    },
    /// All of as many dimensions as the others leave over.
    Rest,
}

/// What is meant in each dimension; dimensions that are not named are meant whole. Made by [`s!`](crate::s), or from ranges, integers,
/// and tuples of them.
///
/// ```
/// use hyperslab::{Slice, s};
/// assert_eq!(Slice::from((1, 2..8)), s![1, 2..8]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    indices: Vec<Index>,
}

impl Index {
    /// A range of which only every `step`-th index is meant.
    #[must_use]
    pub fn every(self, step: impl Into<i128>) -> Index {
        match self {
            Index::Range { start, end, .. } => Index::Range { start, end, step: step.into() },
            other => other,
        }
    }

    /// The pattern in a dimension of this size, and whether the dimension stays.
    fn slab(self, dim: usize, size: u64) -> Result<(Slab, bool)> {
        let whole = i128::from(size);
        let outside = |index: i128, most: i128| {
            let from_end = if index < 0 { index + whole } else { index };
            let why = || Error::Slice(format!("index {index} is outside of dimension {dim}, whose size is {size}"));
            u64::try_from(from_end).ok().filter(|&at| i128::from(at) <= most).ok_or_else(why)
        };
        match self {
            Index::At(index) => Ok((Slab::block(outside(index, whole - 1)?, 1), false)),
            Index::Range { start, end, step } => {
                let (start, end) = (outside(start, whole)?, outside(end.unwrap_or(whole), whole)?);
                let step = u64::try_from(step).ok().filter(|&step| step > 0);
                let step = step.ok_or_else(|| Error::Slice(format!("the step in dimension {dim} is not positive")))?;
                let length = end.saturating_sub(start);
                let slab = if step == 1 {
                    Slab::block(start, length)
                } else {
                    Slab::new(start, step, length.div_ceil(step), 1)
                };
                Ok((slab, true))
            }
            Index::Rest => Ok((Slab::block(0, size), true)),
        }
    }
}

impl Slice {
    /// What is meant in each dimension.
    pub fn new(indices: impl IntoIterator<Item = Index>) -> Slice {
        Slice { indices: indices.into_iter().collect() }
    }

    /// The selection in an extent, and the shape of what is selected.
    pub fn select(&self, extent: &Extent) -> Result<(Space, Vec<u64>)> {
        let rank = extent.rank();
        let mut space = Space::new(extent.clone());
        let (mut slabs, mut shape) = (Vec::with_capacity(rank), Vec::new());
        for (dim, (index, &size)) in self.spread(rank)?.into_iter().zip(extent.dims()).enumerate() {
            let (slab, stays) = index.slab(dim, size)?;
            if stays {
                shape.push(slab.indices());
            }
            slabs.push(slab);
        }
        if slabs.iter().any(Slab::is_empty) {
            space.select_none();
        } else if !slabs.is_empty() {
            space.select_hyperslab(Op::Set, &slabs)?;
        }
        Ok((space, shape))
    }

    /// One index for each dimension.
    fn spread(&self, rank: usize) -> Result<Vec<Index>> {
        let named = self.indices.iter().filter(|index| **index != Index::Rest).count();
        let rests = self.indices.len() - named;
        let Some(left) = rank.checked_sub(named).filter(|_| rests < 2) else {
            let why = if rests > 1 {
                "the rest is meant twice".into()
            } else {
                format!("it has {named} dimensions, the dataset {rank}")
            };
            return Err(Error::Slice(why));
        };
        let mut spread = Vec::with_capacity(rank);
        for index in &self.indices {
            let times = if *index == Index::Rest { left } else { 1 };
            spread.extend(std::iter::repeat_n(*index, times));
        }
        spread.resize(rank, Index::Rest);
        Ok(spread)
    }
}

macro_rules! indices {
    ($($int:ty)*) => {$(
        impl From<$int> for Index {
            fn from(index: $int) -> Index {
                Index::At(index as i128)
            }
        }

        impl From<Range<$int>> for Index {
            fn from(range: Range<$int>) -> Index {
                Index::Range { start: range.start as i128, end: Some(range.end as i128), step: 1 }
            }
        }

        impl From<RangeInclusive<$int>> for Index {
            fn from(range: RangeInclusive<$int>) -> Index {
                Index::Range { start: *range.start() as i128, end: behind(*range.end() as i128), step: 1 }
            }
        }

        impl From<RangeFrom<$int>> for Index {
            fn from(range: RangeFrom<$int>) -> Index {
                Index::Range { start: range.start as i128, end: None, step: 1 }
            }
        }

        impl From<RangeTo<$int>> for Index {
            fn from(range: RangeTo<$int>) -> Index {
                Index::Range { start: 0, end: Some(range.end as i128), step: 1 }
            }
        }

        impl From<RangeToInclusive<$int>> for Index {
            fn from(range: RangeToInclusive<$int>) -> Index {
                Index::Range { start: 0, end: behind(range.end as i128), step: 1 }
            }
        }

        slices!($int, Range<$int>, RangeInclusive<$int>, RangeFrom<$int>, RangeTo<$int>, RangeToInclusive<$int>);
    )*};
}

macro_rules! slices {
    ($($index:ty),*) => {$(
        impl From<$index> for Slice {
            fn from(index: $index) -> Slice {
                Slice::new([index.into()])
            }
        }
    )*};
}
indices!(i32 i64 isize u32 u64 usize);
slices!(Index, RangeFull);

/// The index behind an included one; behind the last one is the end.
fn behind(last: i128) -> Option<i128> {
    (last != -1).then_some(last.saturating_add(1))
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index::Range { start: 0, end: None, step: 1 }
    }
}

impl From<Vec<Index>> for Slice {
    fn from(indices: Vec<Index>) -> Slice {
        Slice { indices }
    }
}

impl<I: Into<Index>, const N: usize> From<[I; N]> for Slice {
    fn from(indices: [I; N]) -> Slice {
        Slice::new(indices.into_iter().map(Into::into))
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Into<Index>),*> From<($($name,)*)> for Slice {
            fn from(indices: ($($name,)*)) -> Slice {
                #[expect(non_snake_case, reason = "named as their types")]
                let ($($name,)*) = indices;
                Slice::new([$($name.into()),*])
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

/// A [`Slice`]: for each dimension an index, a range, or a range and a step behind a semicolon. Negative indices count from the end;
/// dimensions that are not named are meant whole; [`Index::Rest`] stands for any number of dimensions.
///
/// ```
/// use hyperslab::{Index, s};
/// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
/// let dataset = file.dataset("temperature")?; // 3 × 4
/// assert_eq!(dataset.slice(s![1])?.shape(), [4]); // one row
/// assert_eq!(dataset.slice(s![.., 1..;2])?.shape(), [3, 2]); // columns 1 and 3
/// assert_eq!(dataset.slice(s![-2.., ..=1])?.shape(), [2, 2]); // the last two rows, the first two columns
/// assert_eq!(dataset.slice(s![Index::Rest, 0])?.shape(), [3]); // the first of the last dimension
/// let why = dataset.slice(s![3]).unwrap_err();
/// assert_eq!(why.to_string(), "slice: index 3 is outside of dimension 0, whose size is 3");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@ [$($done:expr,)*]) => { $crate::Slice::new([$($done),*] as [$crate::Index; _]) };
    (@ [$($done:expr,)*] $index:expr; $step:expr, $($rest:tt)*) => {
        $crate::s!(@ [$($done,)* $crate::Index::from($index).every($step),] $($rest)*)
    };
    (@ [$($done:expr,)*] $index:expr; $step:expr) => {
        $crate::s!(@ [$($done,)* $crate::Index::from($index).every($step),])
    };
    (@ [$($done:expr,)*] $index:expr, $($rest:tt)*) => {
        $crate::s!(@ [$($done,)* $crate::Index::from($index),] $($rest)*)
    };
    (@ [$($done:expr,)*] $index:expr) => {
        $crate::s!(@ [$($done,)* $crate::Index::from($index),])
    };
    ($($all:tt)*) => { $crate::s!(@ [] $($all)*) };
}
