//! The 80-bit floating-point numbers of the x87, which Rust has no type for.

use half::f16;

/// Sign, exponent and 64 bits of mantissa, the leading one among them; in memory followed by six unused bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct X87 {
    negative: bool,
    exponent: u16,
    mantissa: u64,
}

const BIAS: i32 = 16383;
const LARGEST: u16 = 0x7fff;
const LEADING: u64 = 1 << 63;
const QUIET: u64 = 1 << 62;

impl X87 {
    pub(super) fn from_le_bytes(bytes: [u8; 16]) -> X87 {
        let bits = u128::from_le_bytes(bytes);
        let top = (bits >> 64) as u16;
        X87 { negative: top >> 15 == 1, exponent: top & LARGEST, mantissa: bits as u64 }
    }

    pub(super) fn to_le_bytes(self) -> [u8; 16] {
        let top = u16::from(self.negative) << 15 | self.exponent;
        (u128::from(top) << 64 | u128::from(self.mantissa)).to_le_bytes()
    }

    pub(super) fn of_integer(value: i128) -> X87 {
        let magnitude = value.unsigned_abs() as u64;
        let Some(top) = magnitude.checked_ilog2() else {
            return X87 { negative: false, exponent: 0, mantissa: 0 };
        };
        X87 { negative: value < 0, exponent: (BIAS + top as i32) as u16, mantissa: magnitude << (63 - top) }
    }

    pub(super) fn of_f64(value: f64) -> X87 {
        let bits = value.to_bits();
        let fraction = bits << 12;
        let negative = value.is_sign_negative();
        let (exponent, mantissa) = match (bits >> 52) as u16 & 0x7ff {
            0x7ff if fraction != 0 => (LARGEST, LEADING | QUIET | fraction >> 1),
            0x7ff => (LARGEST, LEADING),
            0 if fraction == 0 => (0, 0),
            0 => {
                let shift = fraction.leading_zeros();
                ((BIAS - 1023 - shift as i32) as u16, fraction << shift)
            }
            exponent => ((i32::from(exponent) - 1023 + BIAS) as u16, LEADING | fraction >> 1),
        };
        X87 { negative, exponent, mantissa }
    }

    /// The integer nearest to zero, within bounds; none of a NaN: zero.
    pub(super) fn to_integer(self, low: i128, high: i128) -> i128 {
        let exponent = i32::from(self.exponent) - BIAS;
        if self.is_nan() {
            return 0;
        }
        let magnitude = match exponent {
            ..0 => 0,
            0..=63 => i128::from(self.mantissa >> (63 - exponent)),
            64.. => i128::MAX,
        };
        (if self.negative { -magnitude } else { magnitude }).clamp(low, high)
    }

    pub(super) fn to_f64(self) -> f64 {
        f64::from_bits(self.narrow(52, 1023))
    }

    pub(super) fn to_f32(self) -> f32 {
        f32::from_bits(self.narrow(23, 127) as u32)
    }

    pub(super) fn to_f16(self) -> f16 {
        f16::from_bits(self.narrow(10, 15) as u16)
    }

    fn is_nan(self) -> bool {
        self.exponent == LARGEST && self.mantissa << 1 != 0 || self.is_invalid()
    }

    /// Whether the leading one is missing where it must be; the x87 refuses such bits.
    fn is_invalid(self) -> bool {
        self.exponent != 0 && self.mantissa & LEADING == 0
    }

    /// The bits of an IEEE number with `size` bits of mantissa: to nearest, ties to even; infinite beyond the largest finite number.
    fn narrow(self, size: u32, bias: i32) -> u64 {
        let largest = 2 * bias as u64 + 1;
        let exponent = i32::from(self.exponent) - BIAS;
        let top = 1 << (size + (largest + 1).ilog2());
        let sign = if self.negative { top } else { 0 };
        let quiet = 1 << (size - 1);
        if self.is_invalid() {
            return top | largest << size | quiet; // what the processor makes of it
        }
        if self.is_nan() {
            return sign | largest << size | quiet | (self.mantissa & !LEADING) >> (63 - size);
        }
        let highest = u64::MAX << (63 - size);
        if exponent > bias || exponent == bias && self.mantissa > highest {
            return sign | largest << size;
        }
        // A denormal result loses one bit more for each step below the smallest exponent.
        let below = (1 - bias - exponent).max(0) as u32;
        let dropped = 63 - size + below;
        let Some(kept) = self.mantissa.checked_shr(dropped) else {
            let up = dropped == 64 && self.mantissa > LEADING;
            return sign | u64::from(up);
        };
        let rest = self.mantissa << (64 - dropped);
        let rounded = kept + u64::from(rest > LEADING || rest == LEADING && kept & 1 == 1);
        // The leading one, or the carry of rounding, adds one to the exponent.
        let stored = if below > 0 { 0 } else { (exponent + bias - 1) as u64 };
        sign | ((stored << size) + rounded)
    }
}
