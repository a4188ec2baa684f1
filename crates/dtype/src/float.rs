//! Floating-point formats.

use crate::number::{Bits, Order};
use crate::{Datatype, Error, Result};

/// What is known about the most significant bit of a mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Nothing: it is stored and may be zero (the 80-bit format of the x87).
    None,
    /// It is stored and is one unless the number is zero.
    MsbSet,
    /// It is one and not stored (IEEE 754).
    Implied,
}

/// A run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The lowest bit.
    pub at: u8,
    /// How many bits.
    pub size: u8,
}

impl Field {
    fn end(self) -> u32 {
        u32::from(self.at) + u32::from(self.size)
    }

    fn overlaps(self, other: Field) -> bool {
        u32::from(self.at) < other.end() && u32::from(other.at) < self.end()
    }
}

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Float {
    /// Its significant bits.
    pub bits: Bits,
    /// Whether unused bits between the fields are ones.
    pub inner_pad: bool,
    /// What is known about the mantissa's top bit.
    pub normalization: Normalization,
    /// The place of the sign bit.
    pub sign: u8,
    /// The exponent.
    pub exponent: Field,
    /// The mantissa.
    pub mantissa: Field,
    /// What is subtracted from the stored exponent.
    pub bias: u32,
}

impl Float {
    /// IEEE 754 half precision.
    pub const F16: Float = Float::ieee(2, 5, Order::Little);
    /// IEEE 754 single precision.
    pub const F32: Float = Float::ieee(4, 8, Order::Little);
    /// IEEE 754 double precision.
    pub const F64: Float = Float::ieee(8, 11, Order::Little);
    /// IEEE 754 quadruple precision.
    pub const F128: Float = Float::ieee(16, 15, Order::Little);
    /// The upper half of a single: bfloat16.
    pub const BF16: Float = Float::ieee(2, 8, Order::Little);
    /// Eight bits, four of them exponent.
    pub const F8E4M3: Float = Float::ieee(1, 4, Order::Little);
    /// Eight bits, five of them exponent.
    pub const F8E5M2: Float = Float::ieee(1, 5, Order::Little);
    /// VAX F: single precision, four bytes.
    pub const VAX_F: Float = Float { bias: 0x81, ..Float::ieee(4, 8, Order::Vax) };
    /// VAX G: double precision, eight bytes.
    pub const VAX_G: Float = Float { bias: 0x401, ..Float::ieee(8, 11, Order::Vax) };
    /// The 80-bit format of the x87, kept in 16 bytes: `long double` on x86-64.
    pub const X87: Float = Float {
        bits: Bits { precision: 80, ..Bits::full(16, Order::Little) },
        inner_pad: false,
        normalization: Normalization::None,
        sign: 79,
        exponent: Field { at: 64, size: 15 },
        mantissa: Field { at: 0, size: 64 },
        bias: 16383,
    };

    /// Sign, exponent and mantissa from the top, filling `size` bytes (at most 31), with IEEE's bias.
    const fn ieee(size: u8, exponent: u8, order: Order) -> Float {
        let mantissa = 8 * size - 1 - exponent;
        Float {
            bits: Bits::full(size as u16, order),
            inner_pad: false,
            normalization: Normalization::Implied,
            sign: 8 * size - 1,
            exponent: Field { at: mantissa, size: exponent },
            mantissa: Field { at: 0, size: mantissa },
            bias: (1 << (exponent - 1)) - 1,
        }
    }

    /// The same format with its bytes in another order.
    pub const fn in_order(self, order: Order) -> Float {
        Float { bits: Bits { order, ..self.bits }, ..self }
    }

    pub(crate) fn check(&self, size: u32) -> Result<()> {
        let refuse = |why: &str| Err(Error::invalid("floating-point", why));
        let sign = Field { at: self.sign, size: 1 };
        if self.exponent.size == 0 || self.mantissa.size == 0 {
            return refuse("exponent and mantissa need at least one bit");
        }
        if [sign, self.exponent, self.mantissa].iter().any(|field| u64::from(field.end()) > 8 * u64::from(size)) {
            return refuse("sign, exponent or mantissa lies outside the number");
        }
        if sign.overlaps(self.exponent) || sign.overlaps(self.mantissa) || self.exponent.overlaps(self.mantissa) {
            return refuse("sign, exponent and mantissa overlap");
        }
        if self.bits.order == Order::Vax && !size.is_multiple_of(2) {
            return refuse("VAX order needs an even number of bytes");
        }
        Ok(())
    }

    /// Whether only the order of the bytes tells this format from `other`.
    pub(crate) fn same_fields(&self, other: &Float) -> bool {
        Float { bits: other.bits, ..*self } == *other
    }
}

/// The formats that have a name, with their sizes.
pub(crate) const NAMED: [(&str, u32, Float); 10] = [
    ("f16", 2, Float::F16),
    ("f32", 4, Float::F32),
    ("f64", 8, Float::F64),
    ("f128", 16, Float::F128),
    ("bf16", 2, Float::BF16),
    ("f8e4m3", 1, Float::F8E4M3),
    ("f8e5m2", 1, Float::F8E5M2),
    ("f80", 16, Float::X87),
    ("vax f", 4, Float::VAX_F),
    ("vax g", 8, Float::VAX_G),
];

impl Datatype {
    /// A floating-point number of `size` bytes. libhdf5 does not check that the fields lie in the significant bits, so neither does this.
    ///
    /// ```
    /// use hyperslab_dtype::{Datatype, Float, Order};
    /// let big = Datatype::float(4, Float::F32.in_order(Order::Big))?;
    /// assert_eq!(big.to_string(), "f32be");
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn float(size: u32, float: Float) -> Result<Datatype> {
        float.check(size)?;
        Datatype::checked(size, crate::Class::Float(float))
    }
}
