//! Point selections: a list of coordinates, in the order given, repeats kept.

use crate::{Coords, Error, Result, UNLIMITED};

/// Selected elements one by one.
///
/// ```
/// use hyperslab_space::Space;
/// let mut space = Space::simple(&[4, 4])?;
/// space.select_points(&[3, 0, 1, 1])?; // (3, 0), then (1, 1)
/// let coords: Vec<_> = space.coords()?.map(|coords| coords.to_vec()).collect();
/// assert_eq!(coords, [[3, 0], [1, 1]]);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    rank: usize,
    /// The coordinates of all points, one after the other.
    flat: Vec<u64>,
    /// The lowest and the highest index in each dimension, if there is a point.
    bounds: Option<(Coords, Coords)>,
}

impl Points {
    /// Points of `rank` dimensions from their coordinates one after the other.
    pub fn new(rank: usize, flat: Vec<u64>) -> Result<Points> {
        if rank == 0 || !flat.len().is_multiple_of(rank) {
            return Err(Error::Points { coords: flat.len(), rank });
        }
        let bounds = bounds(&flat, rank);
        match &bounds {
            Some((_, high)) if high.contains(&UNLIMITED) => Err(Error::NotAnIndex),
            _ => Ok(Points { rank, flat, bounds }),
        }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.flat.len() / self.rank
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flat.is_empty()
    }

    /// The points in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.flat.chunks_exact(self.rank)
    }

    /// The points from one on.
    pub(crate) fn iter_from(&self, nth: usize) -> impl Iterator<Item = &[u64]> {
        self.flat.get(nth.saturating_mul(self.rank)..).unwrap_or_default().chunks_exact(self.rank)
    }

    /// The coordinates of all points, one after the other.
    pub fn flat(&self) -> &[u64] {
        &self.flat
    }

    /// How many dimensions a point has.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn get(&self, nth: usize) -> Option<&[u64]> {
        let start = nth.checked_mul(self.rank)?;
        self.flat.get(start..start.checked_add(self.rank)?)
    }

    /// The lowest and the highest index in each dimension.
    pub(crate) fn bounds(&self) -> Option<(Coords, Coords)> {
        self.bounds.clone()
    }

    /// Each point as a block of one element: a range per dimension and point.
    pub(crate) fn ranges(&self) -> Vec<Vec<(u64, u64)>> {
        let column =
            |dim| self.iter().filter_map(move |point| point.get(dim)).map(|&index| (index, index + 1)).collect();
        (0..self.rank).map(column).collect()
    }
}

fn bounds(flat: &[u64], rank: usize) -> Option<(Coords, Coords)> {
    let (first, others) = flat.split_at_checked(rank)?;
    let (mut low, mut high) = (Coords::from_slice(first), Coords::from_slice(first));
    for point in others.chunks_exact(rank) {
        for ((low, high), &index) in low.iter_mut().zip(&mut high).zip(point) {
            *low = index.min(*low);
            *high = index.max(*high);
        }
    }
    Some((low, high))
}
