//! Coordinates.

use std::{
    ops::{Deref, DerefMut},
    slice,
};

use smallvec::SmallVec;

/// Most arrays have no more dimensions than this; their coordinates take no memory of their own.
const INLINE: usize = 4;

/// One index per dimension. A slice of indices, cheap to clone.
///
/// ```
/// use hyperslab_space::Coords;
/// let corner: Coords = [3u64, 4].into_iter().collect();
/// assert_eq!(corner, Coords::from_slice(&[3, 4]));
/// assert_eq!(corner.iter().product::<u64>(), 12);
/// ```
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coords(SmallVec<[u64; INLINE]>);

impl Coords {
    /// No dimensions.
    pub fn new() -> Coords {
        Coords::default()
    }

    /// The indices of a slice.
    pub fn from_slice(indices: &[u64]) -> Coords {
        Coords(SmallVec::from_slice(indices))
    }

    /// The same index in so many dimensions.
    pub fn from_elem(index: u64, rank: usize) -> Coords {
        Coords(SmallVec::from_elem(index, rank))
    }

    /// All indices.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// One more dimension, behind the others.
    pub fn push(&mut self, index: u64) {
        self.0.push(index);
    }
}

impl Clone for Coords {
    /// As one copy of memory, which `SmallVec` does not do by itself.
    fn clone(&self) -> Coords {
        Coords::from_slice(&self.0)
    }

    fn clone_from(&mut self, source: &Coords) {
        self.0.clear();
        self.0.extend_from_slice(&source.0);
    }
}

impl Deref for Coords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Coords {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl AsRef<[u64]> for Coords {
    fn as_ref(&self) -> &[u64] {
        &self.0
    }
}

impl From<&[u64]> for Coords {
    fn from(indices: &[u64]) -> Coords {
        Coords::from_slice(indices)
    }
}

impl From<Vec<u64>> for Coords {
    fn from(indices: Vec<u64>) -> Coords {
        Coords(indices.into())
    }
}

impl FromIterator<u64> for Coords {
    fn from_iter<I: IntoIterator<Item = u64>>(indices: I) -> Coords {
        Coords(indices.into_iter().collect())
    }
}

impl IntoIterator for Coords {
    type Item = u64;
    type IntoIter = smallvec::IntoIter<[u64; INLINE]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Coords {
    type Item = &'a u64;
    type IntoIter = slice::Iter<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Coords {
    type Item = &'a mut u64;
    type IntoIter = slice::IterMut<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
