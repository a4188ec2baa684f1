//! How large an array is, and how large it may become.

use crate::{Coords, Error, Result, UNLIMITED};

/// The most dimensions a dataspace may have.
pub const MAX_RANK: usize = 32;

/// The size of an array: nothing at all, one element, or a box of elements.
///
/// ```
/// use hyperslab_space::Extent;
/// let extent = Extent::simple(&[3, 4])?;
/// assert_eq!(extent.elements(), 12);
/// assert!(Extent::simple(&[u64::MAX, 2]).is_err());
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
        if elements_of(dims).is_none() {
            return Err(Error::Elements(dims.to_vec()));
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

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        match &self.0 {
            Class::Null => 0,
            _ => elements_of(self.dims()).unwrap_or(u64::MAX),
        }
    }
}

/// The product of the dimensions, or `None` if 64 bits do not hold the product of the non-zero ones: then
/// strides could not be computed either.
fn elements_of(dims: &[u64]) -> Option<u64> {
    let strides_fit = dims.iter().filter(|&&dim| dim > 0).try_fold(1u64, |product, &dim| product.checked_mul(dim))?;
    Some(if dims.contains(&0) { 0 } else { strides_fit })
}
