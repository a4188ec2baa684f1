//! Which chunks a request may touch, found out without looking at its parts.

use hyperslab_space::{Coords, Grid, Space};

/// A box of chunks that holds all that a selection touches.
pub(super) struct Reach {
    low: Coords,
    high: Coords,
    points: u64,
}

impl Reach {
    /// The chunks between the first and the last index of each dimension; nothing if nothing is selected.
    pub(super) fn of(grid: &Grid, selection: &Space) -> Option<Reach> {
        let (low, high) = selection.bounds()?;
        let places = |bound: &[u64]| bound.iter().zip(grid.chunk()).map(|(index, size)| index / size).collect();
        Some(Reach { low: places(&low), high: places(&high), points: selection.npoints() })
    }

    /// How many chunks there are in the box.
    pub(super) fn count(&self) -> u64 {
        self.low.iter().zip(&self.high).fold(1, |count: u64, (low, high)| count.saturating_mul(high - low + 1))
    }

    /// The most chunks that can be touched.
    pub(super) fn most(&self) -> u64 {
        self.count().min(self.points)
    }

    /// The places of all chunks in the box, rising.
    pub(super) fn places(&self) -> impl Iterator<Item = Coords> {
        let mut next = Some(self.low.clone());
        std::iter::from_fn(move || {
            let now = next.take()?;
            let mut place = now.clone();
            for ((index, low), high) in place.iter_mut().zip(&self.low).zip(&self.high).rev() {
                if *index < *high {
                    *index += 1;
                    next = Some(place);
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
        let places: Vec<Vec<u64>> = reach.places().map(|place| place.to_vec()).collect();
        assert_eq!(places, [[0, 2], [1, 2], [2, 2]]);
        assert_eq!((reach.count(), reach.most()), (3, 3));
    }
}
