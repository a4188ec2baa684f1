//! Conversion by the processor: between the numbers that C knows, in loops a compiler makes vectors of.
//!
//! The rules are those of C, with libhdf5's checks around them: what is beyond an integer becomes its largest or smallest value,
//! what is beyond the largest finite number becomes infinite even if rounding would bring it back.

use super::extended::X87;
use super::number::{Kind, Number};
use crate::{Bits, Fixed, Float, Order};
use half::f16;

/// The numbers that C knows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Primitive {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    X87,
}

impl Primitive {
    /// The little-endian number of C that this is.
    fn of(number: Number) -> Option<Primitive> {
        let found = match number.kind {
            Kind::Int(Fixed { bits, signed })
                if number.size <= 8 && bits == Bits::full(number.size as u16, Order::Little) =>
            {
                match (number.size, signed) {
                    (1, true) => Primitive::I8,
                    (1, false) => Primitive::U8,
                    (2, true) => Primitive::I16,
                    (2, false) => Primitive::U16,
                    (4, true) => Primitive::I32,
                    (4, false) => Primitive::U32,
                    (8, true) => Primitive::I64,
                    (8, false) => Primitive::U64,
                    _ => return None,
                }
            }
            Kind::Float(float) => match number.size {
                2 if float == Float::F16 => Primitive::F16,
                4 if float == Float::F32 => Primitive::F32,
                8 if float == Float::F64 => Primitive::F64,
                16 if float == Float::X87 => Primitive::X87,
                _ => return None,
            },
            _ => return None,
        };
        Some(found)
    }
}

/// A loop over dense values, with byte swaps before and after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    run: fn(&[u8], &mut [u8]),
    from: usize,
    to: usize,
    swap_from: bool,
    swap_to: bool,
}

/// Values that are swapped at a time: small enough for the stack and the first cache.
const BLOCK: usize = 256;

impl Kernel {
    /// The kernel for two numbers of C, if libhdf5 leaves this pair to the processor.
    pub(super) fn hard(from: Number, to: Number) -> Option<Kernel> {
        let run = kernel(Primitive::of(from)?, Primitive::of(to)?);
        Some(Kernel { run, from: from.size, to: to.size, swap_from: false, swap_to: false })
    }

    /// The same for numbers in the other byte order, where bit by bit would give the same: from integers to integers and to
    /// `float` and `double`.
    pub(super) fn swapped(from: Number, to: Number) -> Option<Kernel> {
        let (swap_from, little_from) = in_little_endian(from);
        let (swap_to, little_to) = in_little_endian(to);
        let exact = matches!(from.kind, Kind::Int(_)) && (matches!(to.kind, Kind::Int(_)) || to.size > 2);
        let kernel = Kernel::hard(little_from, little_to).filter(|_| exact)?;
        Some(Kernel { swap_from, swap_to, ..kernel })
    }

    /// From bfloat16 to `float`: no number of C, but what bit by bit gives is easily said.
    pub(super) fn widened(from: Number, to: Number) -> Option<Kernel> {
        let is = |number: Number, size, format| number == Number { size, kind: Kind::Float(format) };
        let fits = is(from, 2, Float::BF16) && is(to, 4, Float::F32);
        fits.then_some(Kernel { run: widen, from: 2, to: 4, swap_from: false, swap_to: false })
    }

    /// Whether a number is `float`, `double` or `long double`.
    pub(super) fn is_c_float(number: Number) -> bool {
        matches!(Primitive::of(number), Some(Primitive::F32 | Primitive::F64 | Primitive::X87))
    }

    /// Converts dense values.
    pub(super) fn run(&self, from: &[u8], to: &mut [u8]) {
        if !self.swap_from && !self.swap_to {
            return (self.run)(from, to);
        }
        let mut buffer = [0u8; 8 * BLOCK];
        for (source, target) in from.chunks(self.from * BLOCK).zip(to.chunks_mut(self.to * BLOCK)) {
            if self.swap_from {
                let swapped = buffer.get_mut(..source.len()).unwrap_or_default();
                swap(self.from, source, swapped);
                (self.run)(swapped, target);
            } else {
                (self.run)(source, target);
            }
            if self.swap_to {
                target.chunks_exact_mut(self.to).for_each(<[u8]>::reverse);
            }
        }
    }
}

/// Whether the bytes of a number must be reversed to make it little-endian, and what it is then.
fn in_little_endian(number: Number) -> (bool, Number) {
    if number.bits().order != Order::Big {
        return (false, number);
    }
    let little = match number.kind {
        Kind::Int(fixed) => Kind::Int(Fixed { bits: Bits { order: Order::Little, ..fixed.bits }, ..fixed }),
        Kind::Float(float) => Kind::Float(float.in_order(Order::Little)),
    };
    (true, Number { kind: little, ..number })
}

/// Reverses the bytes of each part of `part` bytes.
pub(super) fn swap(part: usize, from: &[u8], to: &mut [u8]) {
    match part {
        2 => swap_as::<2>(from, to),
        4 => swap_as::<4>(from, to),
        8 => swap_as::<8>(from, to),
        16 => swap_as::<16>(from, to),
        _ => {
            for (from, to) in from.chunks_exact(part.max(1)).zip(to.chunks_exact_mut(part.max(1))) {
                to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// bfloat16 is the upper half of a `float`. All NaNs become one.
fn widen(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<2>().0) {
        let bits = u32::from(u16::from_le_bytes(*from)) << 16;
        let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
        *to = (bits | if is_nan { 0x7fff_ffff } else { 0 }).to_le_bytes();
    }
}

fn swap_as<const N: usize>(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0) {
        *to = *from;
        to.reverse();
    }
}

/// One number of C, in little-endian bytes.
trait Scalar<const N: usize>: Copy {
    fn load(bytes: [u8; N]) -> Self;
    fn store(self) -> [u8; N];
}

trait Cast<D> {
    fn cast(self) -> D;
}

fn convert<S: Scalar<M> + Cast<D>, D: Scalar<N>, const M: usize, const N: usize>(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<M>().0) {
        *to = S::load(*from).cast().store();
    }
}

macro_rules! scalars {
    ($($type:ident $size:literal)*) => {$(
        impl Scalar<$size> for $type {
            fn load(bytes: [u8; $size]) -> $type {
                <$type>::from_le_bytes(bytes)
            }

            fn store(self) -> [u8; $size] {
                self.to_le_bytes()
            }
        }
    )*};
}
scalars!(i8 1 u8 1 i16 2 u16 2 i32 4 u32 4 i64 8 u64 8 f16 2 f32 4 f64 8 X87 16);

macro_rules! integer_casts {
    ($from:ident to $($to:ident)*) => {$(
        impl Cast<$to> for $from {
            fn cast(self) -> $to {
                const LOW: $from = if ($from::MIN as i128) < $to::MIN as i128 { $to::MIN as $from } else { $from::MIN };
                const HIGH: $from = if ($from::MAX as i128) > $to::MAX as i128 { $to::MAX as $from } else { $from::MAX };
                self.clamp(LOW, HIGH) as $to
            }
        }
    )*};
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        integer_casts!($int to i8 u8 i16 u16 i32 u32 i64 u64);

        impl Cast<f32> for $int {
            fn cast(self) -> f32 {
                self as f32
            }
        }

        impl Cast<f64> for $int {
            fn cast(self) -> f64 {
                self as f64
            }
        }

        /// Not by rounding: what is beyond the largest finite number is infinite.
        impl Cast<f16> for $int {
            fn cast(self) -> f16 {
                Cast::<f16>::cast(self as f64)
            }
        }

        impl Cast<X87> for $int {
            fn cast(self) -> X87 {
                X87::of_integer(self.into())
            }
        }

        impl Cast<$int> for f16 {
            fn cast(self) -> $int {
                self.to_f32() as $int
            }
        }

        impl Cast<$int> for f32 {
            fn cast(self) -> $int {
                self as $int
            }
        }

        impl Cast<$int> for f64 {
            fn cast(self) -> $int {
                self as $int
            }
        }

        impl Cast<$int> for X87 {
            fn cast(self) -> $int {
                self.to_integer($int::MIN.into(), $int::MAX.into()) as $int
            }
        }
    )*};
}
integers!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! float_casts {
    ($($from:ident to $to:ident: |$value:ident| $cast:expr;)*) => {$(
        impl Cast<$to> for $from {
            fn cast(self) -> $to {
                let $value = self;
                $cast
            }
        }
    )*};
}
float_casts! {
    f16 to f16: |value| value;
    f16 to f32: |value| value.to_f32();
    f16 to f64: |value| value.to_f32() as f64;
    f16 to X87: |value| X87::of_f64(value.to_f32() as f64);
    f32 to f16: |value| if value.abs() > LARGEST_HALF { infinite(value as f64) } else { f16::from_f32(value) };
    f32 to f32: |value| value;
    f32 to f64: |value| value as f64;
    f32 to X87: |value| X87::of_f64(value as f64);
    f64 to f16: |value| if value.abs() > LARGEST_HALF as f64 { infinite(value) } else { X87::of_f64(value).to_f16() };
    f64 to f32: |value| if value.abs() > f32::MAX as f64 { f32::INFINITY.copysign(value as f32) } else { value as f32 };
    f64 to f64: |value| value;
    f64 to X87: |value| X87::of_f64(value);
    X87 to f16: |value| value.to_f16();
    X87 to f32: |value| value.to_f32();
    X87 to f64: |value| value.to_f64();
    X87 to X87: |value| value;
}

const LARGEST_HALF: f32 = 65504.0;

fn infinite(value: f64) -> f16 {
    if value > 0.0 { f16::INFINITY } else { f16::NEG_INFINITY }
}

macro_rules! kernels {
    ($($name:ident $type:ident $size:literal)*) => {
        fn kernel(from: Primitive, to: Primitive) -> fn(&[u8], &mut [u8]) {
            match from {
                $(Primitive::$name => to_each::<$type, $size>(to),)*
            }
        }

        fn to_each<S, const M: usize>(to: Primitive) -> fn(&[u8], &mut [u8])
        where
            S: Scalar<M> $(+ Cast<$type>)*,
        {
            match to {
                $(Primitive::$name => convert::<S, $type, M, $size>,)*
            }
        }
    };
}
kernels!(I8 i8 1 U8 u8 1 I16 i16 2 U16 u16 2 I32 i32 4 U32 u32 4 I64 i64 8 U64 u64 8 F16 f16 2 F32 f32 4 F64 f64 8 X87 X87 16);
