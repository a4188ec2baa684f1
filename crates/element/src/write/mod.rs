//! What values can be written from: the trait, and the Rust types that have it.

mod array;
mod compound;
mod enumeration;
mod number;
mod sequence;
mod text;
mod writing;

use hyperslab_dtype::{Datatype, Target};

use crate::Result;

#[doc(hidden)]
pub use compound::{StoredField, StoredFields};
#[doc(hidden)]
pub use enumeration::StoredVariants;
#[doc(hidden)]
pub use number::put;
pub use writing::Writing;

/// A Rust type whose values can be written: the counterpart of [`Element`](trait@crate::Element), which says as what they can be read.
///
/// Numbers, arrays of them, `bool`, [`str`] and [`String`], [`Vec`] and slices, [`Option`], references to all of these and whatever derives
/// `Element` are. Which stored types each goes to, and which one a new dataset has if nothing else is said:
///
/// | Rust | stored | new |
/// |---|---|---|
/// | integers, floating-point numbers | numbers, enumerations and bit fields; values beyond the range become the nearest | the same |
/// | complex numbers | complex numbers, and compounds of a real and an imaginary part | a compound of `r` and `i`, as h5py has it |
/// | `bool` | enumerations, integers and bit fields, as 0 and 1 | an enumeration of `FALSE` and `TRUE`, as h5py has it |
/// | `str` | strings; an error if one is too long | variable-length UTF-8 |
/// | `Vec<T>`, `[T]` | sequences of variable length; arrays of so many; `[u8]` also strings and opaque values | a sequence |
/// | `[T; N]` | arrays with `N` as their first dimension | an array |
/// | `Option<T>` | what may be null: strings and sequences of variable length | as `T` |
/// | structs that derive `Element` | compounds, field by field, by name; members without a field stay as they are | a packed compound |
/// | enums that derive `Element` | enumerations, by name | an enumeration over the smallest integer that will do |
pub trait Storable: Sync {
    /// What is worked out once for all values of a write.
    type Encoder: Send + Sync;

    /// The type that values have in a new dataset or attribute.
    fn datatype() -> Result<Datatype>;

    /// How values become values of a stored type; an error if they cannot.
    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>>;

    /// Writes the bytes of a value in memory; what is of variable length goes to a heap.
    fn encode(&self, encoder: &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()>;

    /// The bytes of values, if they are those that [`Storable::encode`] would write.
    fn bytes_of(values: &[Self]) -> Option<&[u8]>
    where
        Self: Sized,
    {
        let _ = values;
        None
    }
}

/// How values of a Rust type become stored ones: encoded, then converted from one datatype to another.
#[derive(Clone, Debug)]
pub struct Storing<E> {
    /// What values are encoded as.
    pub memory: Datatype,
    /// The stored type, described as the conversion shall see it; of the same size.
    pub stored: Datatype,
    /// How values are encoded.
    pub encoder: E,
}

impl<E> Storing<E> {
    /// Bytes that are encoded as they are stored.
    pub fn verbatim(stored: &Datatype, encoder: E) -> Result<Storing<E>> {
        let bytes = Datatype::opaque(stored.size() as u32, "")?;
        Ok(Storing { stored: bytes.clone(), memory: bytes, encoder })
    }
}

impl<T: Storable + ?Sized> Storable for &T {
    type Encoder = T::Encoder;

    fn datatype() -> Result<Datatype> {
        T::datatype()
    }

    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>> {
        T::storing(stored)
    }

    fn encode(&self, encoder: &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        T::encode(self, encoder, bytes, heap)
    }
}
