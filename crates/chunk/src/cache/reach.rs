//! Which chunks a request may touch, found out without looking at its parts.

use hyperslab_space::{Coords, Grid, Space};

/// A box of chunks that holds all that a selection touches.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    low: Coords,
    high: Coords,
    points: u64,
}

impl Reach {
    /// The chunks between the first and the last index of each dimension; nothing if nothing is selected.
    pub(super) fn of(grid: &Grid, selection: &Space) -> Option<Reach> {
        let (low, high) = selection.bounds()?;
        let coords = |bound: &[u64]| bound.iter().zip(grid.chunk()).map(|(index, size)| index / size).collect();
        Some(Reach { low: coords(&low), high: coords(&high), points: selection.npoints() })
    }

    /// How many chunks there are in the box.
    pub(super) fn count(&self) -> u64 {
        self.low.iter().zip(&self.high).fold(1, |count: u64, (low, high)| count.saturating_mul(high - low + 1))
    }

    /// The most chunks that can be touched.
    pub(super) fn most(&self) -> u64 {
        self.count().min(self.points)
    }

    /// Whether a chunk is in the box.
    pub(super) fn holds(&self, coord: &[u64]) -> bool {
        coord.iter().zip(self.low.iter().zip(&self.high)).all(|(nth, (low, high))| low <= nth && nth <= high)
    }

    /// Whether it is the same box.
    pub(super) fn is(&self, other: &Reach) -> bool {
        self.low == other.low && self.high == other.high
    }

    /// The dimension in which it lies further than another box, if it is as large and lies further in no other.
    pub(super) fn beyond(&self, other: &Reach) -> Option<usize> {
        let steps = self.low.iter().zip(&self.high).zip(other.low.iter().zip(&other.high));
        let mut moved = steps.enumerate().filter(|(_, (now, before))| now != before);
        let (dim, ((low, high), (from, to))) = moved.next()?;
        (moved.next().is_none() && low > from && high.checked_sub(*low) == to.checked_sub(*from)).then_some(dim)
    }

    /// The chunks behind it in a dimension, from one of them on, of so many boxes as large as it that follow each other, as far as there are chunks: so many, in each dimension.
    pub(super) fn next_in(&self, dim: usize, chunks: &[u64], from: u64, boxes: u64) -> Option<Reach> {
        let (low, high, count) = (*self.low.get(dim)?, *self.high.get(dim)?, *chunks.get(dim)?);
        let first = from.max(high + 1);
        let last = high.saturating_add((high - low + 1).saturating_mul(boxes)).min(count.checked_sub(1)?);
        let mut next = self.clone();
        (*next.low.get_mut(dim)?, *next.high.get_mut(dim)?) = (first, last);
        (first <= last).then_some(next)
    }

    /// From which chunk to which it reaches in a dimension.
    pub(super) fn range(&self, dim: usize) -> Option<(u64, u64)> {
        Some((*self.low.get(dim)?, *self.high.get(dim)?))
    }

    /// The elements of its chunks, from the first to the last index of each dimension.
    pub(super) fn elements(&self, grid: &Grid) -> (Coords, Coords) {
        let first = |coord: &Coords, more: u64| -> Coords {
            coord.iter().zip(grid.chunk()).map(|(index, size)| (index + more).saturating_mul(*size)).collect()
        };
        let last = first(&self.high, 1).iter().map(|index| index.saturating_sub(1)).collect();
        (first(&self.low, 0), last)
    }

    /// The coordinates of all chunks in the box, rising.
    pub(super) fn coords(&self) -> impl Iterator<Item = Coords> {
        let mut next = Some(self.low.clone());
        std::iter::from_fn(move || {
            let now = next.take()?;
            let mut coord = now.clone();
            for ((index, low), high) in coord.iter_mut().zip(&self.low).zip(&self.high).rev() {
                if *index < *high {
                    *index += 1;
                    next = Some(coord);
                    break;
                }
                *index = *low;
            }
            Some(now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_of_a_box_come_in_order() {
        let mut selection = Space::simple(&[20, 20]).unwrap();
        let slabs = [hyperslab_space::Slab::block(3, 6), hyperslab_space::Slab::block(10, 1)];
        selection.select_hyperslab(hyperslab_space::Op::Set, &slabs).unwrap();
        let reach = Reach::of(&Grid::new(&[4, 5]).unwrap(), &selection).unwrap();
        let coords: Vec<Vec<u64>> = reach.coords().map(|coord| coord.to_vec()).collect();
        assert_eq!(coords, [[0, 2], [1, 2], [2, 2]]);
        assert_eq!((reach.count(), reach.most()), (3, 3));
    }

    #[test]
    fn the_next_box_is_behind_in_the_direction_of_the_last_step() {
        let at = |low: [u64; 2], high: [u64; 2]| Reach { low: low[..].into(), high: high[..].into(), points: 1 };
        let (first, second) = (at([0, 0], [1, 3]), at([2, 0], [3, 3]));
        assert_eq!(second.beyond(&first), Some(0));
        assert_eq!(
            (first.beyond(&second), first.beyond(&first), at([2, 1], [3, 4]).beyond(&first)),
            (None, None, None)
        );
        assert!(second.next_in(0, &[9, 4], 0, 1).is_some_and(|next| next.is(&at([4, 0], [5, 3]))));
        assert!(second.next_in(0, &[5, 4], 0, 1).is_some_and(|next| next.is(&at([4, 0], [4, 3]))));
        assert!(second.next_in(0, &[4, 4], 0, 1).is_none());
        assert!(second.next_in(0, &[90, 4], 6, 5).is_some_and(|next| next.is(&at([6, 0], [13, 3]))));
        assert!(second.next_in(0, &[90, 4], 14, 5).is_none());
        let (low, high) = second.elements(&Grid::new(&[10, 5]).unwrap());
        assert_eq!((&low[..], &high[..]), (&[20, 0][..], &[39, 19][..]));
    }
}
