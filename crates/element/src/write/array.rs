//! Arrays of a size known to the compiler.

use hyperslab_dtype::{Class, Datatype, Target};

use super::{Storable, Storing, sequence::encode_each};
use crate::{Error, Result, read::inner};

impl<T: Storable, const N: usize> Storable for [T; N] {
    /// The bytes of one element in memory, and how it is encoded.
    type Encoder = (usize, T::Encoder);

    fn datatype() -> Result<Datatype> {
        let too_long = |_| Error::Value(format!("an array of {N} elements is too long for a datatype"));
        let (below, count) = (T::datatype()?, u32::try_from(N).map_err(too_long)?);
        // Arrays of arrays are arrays of more dimensions, as NumPy has them.
        Ok(match below.class() {
            Class::Array(array) => Datatype::array(array.base().clone(), &[&[count], array.dims()].concat())?,
            _ => Datatype::array(below, &[count])?,
        })
    }

    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>> {
        let refuse = || Error::not_from::<[T; N]>(stored);
        let (first, below) = match stored.class() {
            Class::Array(array) => (array.dims().first().map_or(0, |&first| first as usize), inner(array)?),
            Class::Opaque(_) | Class::String(..) => (stored.size(), Some(Datatype::of::<u8>())),
            _ => return Err(refuse()),
        };
        let below = below.filter(|_| first == N).ok_or_else(refuse)?;
        let count = first as u32;
        let Storing { memory, stored, encoder } = T::storing(&below)?;
        let encoder = (memory.size(), encoder);
        Ok(Storing { memory: Datatype::array(memory, &[count])?, stored: Datatype::array(stored, &[count])?, encoder })
    }

    fn encode(&self, (size, encoder): &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        encode_each(self, encoder, *size, bytes, heap)
    }

    fn bytes_of(values: &[Self]) -> Option<&[u8]> {
        T::bytes_of(values.as_flattened())
    }
}
