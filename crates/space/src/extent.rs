//! How large an array is, and how large it may become.

use crate::{Coords, Error, Result, UNLIMITED};

/// The most dimensions a dataspace may have.
pub const MAX_RANK: usize = 32;

/// The size of an array: nothing at all, one element, or a box of elements.
///
/// ```
/// use hyperslab_space::Extent;
/// let extent = Extent::simple(&[3, 4])?;
/// assert_eq!(extent.elements(), Some(12));
/// assert!(Extent::simple(&[u64::MAX, 2]).is_err()); // this size means "unlimited"
/// assert_eq!(Extent::simple(&[1 << 40, 1 << 40])?.elements(), None); // only chunks that were written take space
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent(Class);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Null,
    Scalar,
    Simple { dims: Coords, max: Coords },
}

impl Extent {
    /// No elements, and no place for any.
    pub const fn null() -> Extent {
        Extent(Class::Null)
    }

    /// One element without dimensions.
    pub const fn scalar() -> Extent {
        Extent(Class::Scalar)
    }

    /// A box of elements that cannot grow.
    pub fn simple(dims: &[u64]) -> Result<Extent> {
        Self::checked(dims, None)
    }

    /// A box of elements that may grow to `max` (`None`: without limit).
    pub fn with_max(dims: &[u64], max: &[Option<u64>]) -> Result<Extent> {
        if dims.len() != max.len() {
            return Err(Error::RankMismatch { what: "the maximum", expected: dims.len(), found: max.len() });
        }
        Self::checked(dims, Some(max.iter().map(|max| max.unwrap_or(UNLIMITED)).collect()))
    }

    /// As [`Extent::with_max`], with `UNLIMITED` standing for itself, as the format stores it.
    pub(crate) fn checked(dims: &[u64], max: Option<Coords>) -> Result<Extent> {
        if dims.len() > MAX_RANK {
            return Err(Error::Rank(dims.len()));
        }
        if let Some(dim) = dims.iter().position(|&size| size == UNLIMITED) {
            return Err(Error::Size(dim));
        }
        for (dim, (&size, &max)) in dims.iter().zip(max.iter().flatten()).enumerate() {
            if size > max {
                return Err(Error::OverMaximum { dim, size, max });
            }
        }
        // A box without dimensions is what the format calls a scalar.
        let max = max.unwrap_or_else(|| dims.into());
        Ok(Extent(if dims.is_empty() { Class::Scalar } else { Class::Simple { dims: dims.into(), max } }))
    }

    /// Whether there is no place for elements at all.
    pub fn is_null(&self) -> bool {
        self.0 == Class::Null
    }

    /// The number of dimensions; none for null and scalar.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The current size of each dimension.
    pub fn dims(&self) -> &[u64] {
        match &self.0 {
            Class::Simple { dims, .. } => dims,
            _ => &[],
        }
    }

    /// The size that each dimension may grow to; [`UNLIMITED`] for any.
    pub fn max(&self) -> &[u64] {
        match &self.0 {
            Class::Simple { max, .. } => max,
            _ => &[],
        }
    }

    /// The number of elements; nothing if 64 bits do not hold it. Chunked datasets may be that large, but neither memory nor values that
    /// are stored in one piece.
    pub fn elements(&self) -> Option<u64> {
        match &self.0 {
            Class::Null => Some(0),
            _ if self.dims().contains(&0) => Some(0),
            _ => self.dims().iter().try_fold(1u64, |product, &dim| product.checked_mul(dim)),
        }
    }

    /// The bytes of all elements of `element_size` bytes; nothing if 64 bits do not hold their number.
    pub fn bytes(&self, element_size: u64) -> Option<u64> {
        self.elements()?.checked_mul(element_size)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.elements() == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_elements_may_exceed_64_bits() {
        let large = 1 << 40;
        assert_eq!(Extent::simple(&[large, large]).unwrap().elements(), None);
        assert_eq!(Extent::simple(&[1 << 32, (1 << 32) - 1]).unwrap().elements(), Some(((1 << 32) - 1) << 32));
        assert_eq!(Extent::simple(&[1 << 32, 1 << 32]).unwrap().elements(), None);
        let none = Extent::with_max(&[0, large, large], &[None, Some(large), None]).unwrap();
        assert_eq!((none.elements(), none.is_empty(), none.bytes(4)), (Some(0), true, Some(0)));
        assert_eq!(Extent::simple(&[1 << 62]).unwrap().bytes(4), None);
        assert_eq!((Extent::null().elements(), Extent::scalar().elements()), (Some(0), Some(1)));
        assert_eq!(Extent::simple(&[large; MAX_RANK]).unwrap().elements(), None);
        assert!(!Extent::simple(&[large; MAX_RANK]).unwrap().is_empty());
    }
}
