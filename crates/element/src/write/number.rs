//! Numbers and truth values.

use half::{bf16, f16};
use hyperslab_dtype::{Bits, Class, Datatype, Fixed, Native, Target};
use num_complex::Complex;

use super::{Storable, Storing};
use crate::{Error, Result, read::pair};

macro_rules! numbers {
    ($($number:ty: $datatype:expr;)*) => {$(
        impl Storable for $number {
            type Encoder = ();

            fn datatype() -> Result<Datatype> {
                $datatype
            }

            fn storing(stored: &Datatype) -> Result<Storing<()>> {
                storing::<$number>(stored)
            }

            fn encode(&self, (): &(), bytes: &mut [u8], _: &mut dyn Target) -> Result<()> {
                put(bytes, bytemuck::bytes_of(self));
                Ok(())
            }

            fn bytes_of(values: &[Self]) -> Option<&[u8]> {
                Some(bytemuck::cast_slice(values))
            }
        }
    )*};
}

macro_rules! real {
    ($($number:ty)*) => { numbers!($($number: Ok(<$number as Native>::datatype());)*); };
}
real!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 bf16 f32 f64);

macro_rules! complex {
    ($($part:ty)*) => { numbers!($(Complex<$part>: as_pair(<$part as Native>::datatype());)*); };
}
complex!(f16 bf16 f32 f64);

/// A complex number as h5py stores it.
fn as_pair(part: Datatype) -> Result<Datatype> {
    Ok(Datatype::compound([("r", part.clone()), ("i", part)])?)
}

/// Copies the bytes of a value to a place of the same size.
pub fn put(place: &mut [u8], value: &[u8]) {
    place.iter_mut().zip(value).for_each(|(place, byte)| *place = *byte);
}

fn storing<T: Native>(stored: &Datatype) -> Result<Storing<()>> {
    let memory = T::datatype();
    let is_complex = matches!(memory.class(), Class::Complex(_));
    let stored = match stored.class() {
        Class::Fixed(_) | Class::Float(_) | Class::Complex(_) => stored.clone(),
        // Numbers that have no name may be stored, too; libhdf5 reads them as they are.
        Class::Enum(names) if !is_complex => names.base().clone(),
        Class::Bitfield(bits) => bits_as_number(stored.size(), *bits)?,
        Class::Compound(_) if is_complex => pair(stored).ok_or_else(|| Error::not_from::<T>(stored))?,
        _ => return Err(Error::not_from::<T>(stored)),
    };
    Ok(Storing { memory, stored, encoder: () })
}

fn bits_as_number(size: usize, bits: Bits) -> Result<Datatype> {
    Ok(Datatype::fixed(size as u32, Fixed { bits, signed: false })?)
}

impl Storable for bool {
    type Encoder = ();

    fn datatype() -> Result<Datatype> {
        Ok(<bool as Native>::datatype())
    }

    fn storing(stored: &Datatype) -> Result<Storing<()>> {
        match stored.class() {
            Class::Enum(_) | Class::Fixed(_) | Class::Bitfield(_) => storing::<u8>(stored),
            _ => Err(Error::not_from::<bool>(stored)),
        }
    }

    fn encode(&self, (): &(), bytes: &mut [u8], _: &mut dyn Target) -> Result<()> {
        put(bytes, &[u8::from(*self)]);
        Ok(())
    }

    fn bytes_of(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}
