//! Numbers: any bytes are one, so they are read straight to their place.

use bytemuck::Pod;
use half::{bf16, f16};
use hyperslab_dtype::{Bits, Class, Datatype, Fixed, Native};
use num_complex::Complex;

use super::{Element, Recipe};
use crate::{Error, Result, Sequences};

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Element for $number {
            type Decoder = ();

            fn recipe(stored: &Datatype) -> Result<Recipe<()>> {
                recipe::<$number>(stored)
            }

            fn decode((): &(), bytes: &[u8], _: &Sequences<'_>) -> Result<Self> {
                read(bytes)
            }

            fn as_bytes(values: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(values))
            }

            fn zeros(count: usize) -> Option<Vec<Self>> {
                bytemuck::allocation::try_zeroed_vec(count).ok()
            }
        }
    )*};
}
numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 bf16 f32 f64);
numbers!(Complex<f16> Complex<bf16> Complex<f32> Complex<f64>);

/// The value that bytes are.
pub fn read<T: Pod>(bytes: &[u8]) -> Result<T> {
    let wrong = |_| Error::Length { values: bytes.len() as u64, room: size_of::<T>() as u64 };
    bytemuck::try_pod_read_unaligned(bytes).map_err(wrong)
}

fn recipe<T: Native>(stored: &Datatype) -> Result<Recipe<()>> {
    let memory = T::datatype();
    let is_complex = matches!(memory.class(), Class::Complex(_));
    let stored = match stored.class() {
        Class::Fixed(_) | Class::Float(_) | Class::Enum(_) | Class::Complex(_) => stored.clone(),
        // Only its bits are known; as a number they count from the lowest.
        Class::Bitfield(bits) => bits_as_number(stored.size(), *bits)?,
        Class::Compound(_) if is_complex => pair(stored).ok_or_else(|| Error::mismatch::<T>(stored))?,
        _ => return Err(Error::mismatch::<T>(stored)),
    };
    Ok(Recipe { stored, memory, decoder: () })
}

fn bits_as_number(size: usize, bits: Bits) -> Result<Datatype> {
    Ok(Datatype::fixed(size as u32, Fixed { bits, signed: false })?)
}

/// A complex number as h5py stores it: a compound of a real and an imaginary part.
pub(crate) fn pair(stored: &Datatype) -> Option<Datatype> {
    let Class::Compound(compound) = stored.class() else { return None };
    let [real, imaginary] = compound.members() else { return None };
    let side_by_side = real.offset == 0 && imaginary.offset as usize * 2 == stored.size();
    let named = b"real".starts_with(real.name.as_bytes()) && b"imaginary".starts_with(imaginary.name.as_bytes());
    (side_by_side && named && real.datatype == imaginary.datatype)
        .then(|| Datatype::complex(real.datatype.clone()).ok())
        .flatten()
}
