//! The grid of chunks: how the coordinate of a chunk becomes a number in an array.

use hyperslab_space::{Coords, Extent, UNLIMITED};

/// Chunks per dimension when the dataset is as large as it can be; the numbering that arrays use.
#[derive(Clone, Debug)]
pub(crate) struct Numbering {
    /// The dimensions in the order in which they count, slowest first.
    order: Vec<usize>,
    /// The number of chunks between neighbours, in that order.
    steps: Vec<u64>,
    /// The number of chunks in each dimension, in that order.
    sides: Vec<u64>,
    count: u64,
}

impl Numbering {
    /// The numbering for a chunk shape. With `unlimited_first`, the dimension that grows without limit counts slowest, whichever
    /// it is, so that growth only adds numbers at the end.
    pub(crate) fn new(extent: &Extent, chunk: &[u64], unlimited_first: bool) -> Numbering {
        let mut order: Vec<usize> = (0..chunk.len()).collect();
        // Files with narrow lengths cannot say "unlimited"; what they say instead is larger than any other limit.
        let unlimited = (0..chunk.len()).max_by_key(|&dim| extent.max().get(dim));
        if let Some(dim) = unlimited.filter(|_| unlimited_first) {
            order.retain(|&other| other != dim);
            order.insert(0, dim);
        }
        let count = |dim: usize| {
            let (max, size) = (extent.max().get(dim).copied().unwrap_or(1), chunk.get(dim).copied().unwrap_or(1));
            if max == UNLIMITED { UNLIMITED } else { max.div_ceil(size) }
        };
        let mut steps = vec![1u64; order.len()];
        let mut step = 1u64;
        for (slot, &dim) in steps.iter_mut().zip(&order).rev() {
            *slot = step;
            step = step.saturating_mul(count(dim));
        }
        let sides = order.iter().map(|&dim| count(dim)).collect();
        Numbering { order, steps, sides, count: step }
    }

    /// The number of the chunk at a coordinate; none if the dataset never has one there: the number would be that of another chunk.
    pub(crate) fn number(&self, coord: &[u64]) -> Option<u64> {
        let sides = self.order.iter().zip(self.steps.iter().zip(&self.sides));
        sides.into_iter().try_fold(0u64, |sum, (&dim, (&step, &side))| {
            sum.checked_add(coord.get(dim).filter(|&&nth| nth < side)?.checked_mul(step)?)
        })
    }

    /// How many chunks there are when the dataset is as large as it can be.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How many chunks there are at each index of the dimension that counts slowest.
    pub(crate) fn row(&self) -> u64 {
        self.steps.first().copied().unwrap_or(1)
    }

    /// The coordinate of the chunk with a number; none if no chunk can have it.
    pub(crate) fn coord(&self, mut number: u64) -> Option<Coords> {
        let mut coord = Coords::from_elem(0, self.order.len());
        for (&dim, &step) in self.order.iter().zip(&self.steps) {
            *coord.get_mut(dim)? = number.checked_div(step)?;
            number %= step;
        }
        Some(coord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_numbers_are_inverse() {
        let extent = Extent::with_max(&[7, 9, 5], &[Some(10), None, Some(11)]).unwrap();
        for unlimited_first in [false, true] {
            let numbering = Numbering::new(&extent, &[3, 2, 4], unlimited_first);
            for number in 0..if unlimited_first { 1000 } else { 3 } {
                let coord = numbering.coord(number).unwrap();
                assert_eq!(numbering.number(&coord), Some(number));
            }
        }
    }
}
