//! Arrays of a size known to the compiler.

use hyperslab_dtype::{Array, Class, Datatype};

use super::{Element, Recipe};
use crate::{Error, Result, Sequences};

impl<T: Element, const N: usize> Element for [T; N] {
    /// The bytes of one element, and how it is decoded.
    type Decoder = (usize, T::Decoder);

    fn recipe(stored: &Datatype) -> Result<Recipe<Self::Decoder>> {
        let refuse = || Error::mismatch::<[T; N]>(stored);
        let (first, below) = match stored.class() {
            Class::Array(array) => (array.dims().first().map_or(0, |&first| first as usize), inner(array)?),
            Class::Opaque(_) | Class::String(..) => (stored.size(), Some(Datatype::of::<u8>())),
            _ => return Err(refuse()),
        };
        let below = below.filter(|_| first == N).ok_or_else(refuse)?;
        let count = first as u32;
        let Recipe { stored, memory, decoder } = T::recipe(&below)?;
        let decoder = (memory.size(), decoder);
        Ok(Recipe { stored: Datatype::array(stored, &[count])?, memory: Datatype::array(memory, &[count])?, decoder })
    }

    fn decode((size, decoder): &Self::Decoder, bytes: &[u8], sequences: &Sequences<'_>) -> Result<[T; N]> {
        let elements = bytes.chunks_exact((*size).max(1)).map(|bytes| T::decode(decoder, bytes, sequences));
        let elements = elements.collect::<Result<Vec<T>>>()?;
        elements.try_into().map_err(|found: Vec<T>| Error::Length { values: found.len() as u64, room: N as u64 })
    }

    fn references((size, decoder): &Self::Decoder, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        bytes.chunks_exact((*size).max(1)).for_each(|bytes| T::references(decoder, bytes, visit));
    }

    fn as_bytes(values: &mut [Self]) -> Option<&mut [u8]> {
        T::as_bytes(values.as_flattened_mut())
    }

    fn zeros(count: usize) -> Option<Vec<Self>> {
        T::zeros(count.checked_mul(N)?).and_then(together)
    }
}

/// What the elements of the first dimension are: the element type, or an array of the other dimensions.
pub(crate) fn inner(array: &Array) -> Result<Option<Datatype>> {
    Ok(match array.dims() {
        [] => None,
        [_] => Some(array.base().clone()),
        [_, rest @ ..] => Some(Datatype::array(array.base().clone(), rest)?),
    })
}

/// Elements as arrays of `N`, in the same memory; none if there is memory for a part of an array.
#[expect(unsafe_code, reason = "no safe function does this yet, and a copy would touch all memory twice")]
fn together<T, const N: usize>(elements: Vec<T>) -> Option<Vec<[T; N]>> {
    let (count, room) = (elements.len(), elements.capacity());
    if N == 0 || size_of::<T>() == 0 || !count.is_multiple_of(N) || !room.is_multiple_of(N) {
        return None;
    }
    let start = std::mem::ManuallyDrop::new(elements).as_mut_ptr();
    // SAFETY: `[T; N]` is N elements in a row with the alignment of `T`, so the memory is valid for `room / N` of them, its layout
    // for freeing is the same, and the first `count / N` are initialized. Nothing else owns it any more.
    Some(unsafe { Vec::from_raw_parts(start.cast::<[T; N]>(), count / N, room / N) })
}
