//! Encoded lists of blocks: the tree of all of them, or the runs of their elements where they are in the order of a tree.

use std::ops::Range;

use hyperslab_base::{Reader, Width};

use super::numbers::Numbers;
use crate::{
    Coords, Result, UNLIMITED,
    tree::{self, Budget, Link},
};

/// Blocks by their first and last corners.
#[derive(Clone, Debug)]
pub(super) struct Blocks<'a> {
    corners: Numbers<'a>,
    rank: usize,
    /// For errors.
    reader: Reader<'a>,
}

impl<'a> Blocks<'a> {
    /// Reads the list up to its end.
    pub(super) fn read(reader: &mut Reader<'a>, width: Width, rank: usize) -> Result<Blocks<'a>> {
        let corners = Numbers::read(reader, width, 2 * rank)?;
        let blocks = Blocks { corners, rank, reader: reader.clone() };
        for block in 0..corners.entries() {
            for dim in 0..rank {
                let (low, high) = blocks.range(block, dim);
                if low > high || high == UNLIMITED {
                    return Err(reader.refuse(format!("a block from {low} to {high}")).into());
                }
            }
        }
        Ok(blocks)
    }

    /// The first and the last index of a block in a dimension.
    #[inline]
    fn range(&self, block: usize, dim: usize) -> (u64, u64) {
        (self.corners.get(block, dim), self.corners.get(block, self.rank + dim))
    }

    /// The tree of all blocks.
    pub(super) fn union(&self) -> Result<Option<Link>> {
        let count = self.corners.entries();
        let side = |dim| (0..count).map(move |block| self.range(block, dim)).map(|(low, high)| (low, high + 1));
        let ranges: Vec<Vec<_>> = (0..self.rank).map(|dim| side(dim).collect()).collect();
        let too_complex = |_| self.reader.refuse(format!("{count} blocks overlap in too many ways"));
        Ok(tree::union(&ranges, &mut Budget::for_decoding(count, self.rank)).map_err(too_complex)?)
    }

    /// The walk over the elements of an array with these dimensions, if the blocks lie inside and are in the order of a tree, as writers list them.
    pub(super) fn in_order<'b>(&'b self, dims: &'b [u64]) -> Option<InOrder<'b>> {
        let all = 0..self.corners.entries();
        let is_inside =
            all.clone().all(|block| dims.iter().enumerate().all(|(dim, size)| self.range(block, dim).1 < *size));
        if !is_inside || !self.rise(all, 0) {
            return None;
        }
        let mut strides = Coords::from_elem(1, dims.len());
        for dim in (1..dims.len()).rev() {
            let stride = strides.get(dim)?.checked_mul(*dims.get(dim)?)?;
            *strides.get_mut(dim - 1)? = stride;
        }
        Some(InOrder { blocks: self, dims, strides })
    }

    /// Whether the ranges of blocks rise from one dimension on: equal ones are together, and none touch that a tree joins. Joined ones are few runs, where
    /// those that touch would be walked as one run for each index of the dimensions before.
    fn rise(&self, blocks: Range<usize>, dim: usize) -> bool {
        let (mut next, is_last) = (0, dim + 1 >= self.rank);
        let (mut left, mut before) = (blocks.clone(), blocks.start..blocks.start);
        while !left.is_empty() {
            let (same, (low, high)) = self.same(&left, dim);
            if low < next || !is_last && !self.rise(same.clone(), dim + 1) || is_last && same.len() > 1 {
                return false;
            }
            if low == next && !before.is_empty() && self.are_alike(&before, &same, dim + 1) {
                return false;
            }
            next = high + 1;
            (left.start, before) = (same.end, same);
        }
        true
    }

    /// Whether two groups have as many blocks, of the same ranges from a dimension on.
    fn are_alike(&self, before: &Range<usize>, group: &Range<usize>, first: usize) -> bool {
        let ranges = |group: &Range<usize>| {
            group.clone().flat_map(move |block| (first..self.rank).map(move |dim| self.range(block, dim)))
        };
        before.len() == group.len() && ranges(before).eq(ranges(group))
    }

    /// The first of some blocks, at least one, that have the same range in a dimension, and this range.
    fn same(&self, blocks: &Range<usize>, dim: usize) -> (Range<usize>, (u64, u64)) {
        let range = self.range(blocks.start, dim);
        let others = (blocks.start + 1..blocks.end).take_while(|block| self.range(*block, dim) == range);
        (blocks.start..blocks.start + 1 + others.count(), range)
    }
}

/// Blocks in the order of a tree, inside of an array.
pub(super) struct InOrder<'a> {
    blocks: &'a Blocks<'a>,
    dims: &'a [u64],
    /// How far apart neighbours in each dimension are in row-major order.
    strides: Coords,
}

impl InOrder<'_> {
    /// Calls `each` for runs of elements by their row-major numbers, which rise. Runs may touch.
    pub(super) fn for_each<E>(
        &self,
        mut each: impl FnMut(Range<u64>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.walk(0..self.blocks.corners.entries(), 0, 0, &mut each)
    }

    /// The elements of blocks that have the same ranges before a dimension, at one index in each; `base` is the number of the first element there.
    fn walk<E>(
        &self,
        blocks: Range<usize>,
        dim: usize,
        base: u64,
        each: &mut impl FnMut(Range<u64>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let stride = self.strides.get(dim).copied().unwrap_or(1);
        let mut left = blocks;
        while !left.is_empty() {
            let (same, (low, high)) = self.blocks.same(&left, dim);
            if same.len() == 1 && self.is_full(same.start, dim + 1) {
                each(base + low * stride..base + (high + 1) * stride)?;
            } else {
                (low..=high).try_for_each(|index| self.walk(same.clone(), dim + 1, base + index * stride, each))?;
            }
            left.start = same.end;
        }
        Ok(())
    }

    /// Whether a block reaches over the array in all dimensions from one on.
    fn is_full(&self, block: usize, first: usize) -> bool {
        let further = self.dims.iter().enumerate().skip(first);
        further.into_iter().all(|(dim, size)| self.blocks.range(block, dim) == (0, *size - 1))
    }
}
