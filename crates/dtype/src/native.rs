//! Datatypes of Rust types.

use half::{bf16, f16};
use num_complex::Complex;

use crate::datatype::{Class, Datatype};
use crate::{Bits, Fixed, Float, Order};

/// A Rust type whose values, as they lie in memory, have a datatype.
///
/// For a struct it is a compound with the offsets the compiler chose; a derive macro writes no more than this:
///
/// ```
/// use std::mem::{offset_of, size_of};
/// use hyperslab_dtype::{Datatype, Native};
///
/// #[repr(C)]
/// struct Hit { time: f64, channel: u16 }
///
/// impl Native for Hit {
///     fn datatype() -> Datatype {
///         Datatype::compound_at(size_of::<Hit>() as u32, [
///             ("time", offset_of!(Hit, time) as u32, f64::datatype()),
///             ("channel", offset_of!(Hit, channel) as u32, u16::datatype()),
///         ]).expect("the layout of a struct is a valid compound")
///     }
/// }
/// assert_eq!(Datatype::of::<Hit>().size(), 16);
/// ```
pub trait Native {
    /// The datatype of values in memory.
    fn datatype() -> Datatype;
}

impl Datatype {
    /// The datatype that values of `T` have in memory.
    pub fn of<T: Native + ?Sized>() -> Datatype {
        T::datatype()
    }

    /// An integer of at most 255 bytes, of this machine.
    const fn native_integer(size: u8, signed: bool) -> Datatype {
        let fixed = Fixed { bits: Bits::full(size as u16, Order::NATIVE), signed };
        Datatype::atom(size as u32, Class::Fixed(fixed))
    }
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl Native for $int {
            fn datatype() -> Datatype {
                Datatype::native_integer(size_of::<$int>() as u8, <$int>::MIN != 0)
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! floats {
    ($($float:ty: $format:ident)*) => {$(
        impl Native for $float {
            fn datatype() -> Datatype {
                Datatype::atom(size_of::<$float>() as u32, Class::Float(Float::$format.in_order(Order::NATIVE)))
            }
        }

        impl Native for Complex<$float> {
            fn datatype() -> Datatype {
                let base = Box::new(<$float>::datatype());
                Datatype { size: 2 * base.size, depth: 1, class: Class::Complex(base) }
            }
        }
    )*};
}
floats!(f16: F16 bf16: BF16 f32: F32 f64: F64);

/// As h5py stores it: an enumeration over a signed byte.
impl Native for bool {
    fn datatype() -> Datatype {
        Datatype::boolean()
    }
}

impl<T: Native, const N: usize> Native for [T; N] {
    fn datatype() -> Datatype {
        const {
            assert!(N > 0 && size_of::<[T; N]>() <= u32::MAX as usize, "an array datatype has 1 byte to 4 GiB");
        }
        Datatype::array_of(T::datatype(), N as u32)
    }
}
