//! Integer to floating point, to nearest, ties to even.

use super::word::Word;
use crate::{Fixed, Float, Normalization};

pub(super) fn convert<W: Word>(from: &Fixed, to: &Float, value: W) -> W {
    let precision = u32::from(from.bits.precision);
    let value = value.get(from.bits.offset.into(), precision);
    let negative = from.signed && value.bit(precision - 1);
    let magnitude = if negative { value.not().next().get(0, precision) } else { value };
    let mut made = W::ZERO;
    let Some(top) = magnitude.top() else { return made };
    made.set(to.sign.into(), 1, W::of_bool(negative));

    // The bits that go into the mantissa, with or without the leading one.
    let stored_one = to.normalization == Normalization::None;
    let (bits, length) = if stored_one { (magnitude, top + 1) } else { (magnitude.get(0, top), top) };
    let room = u32::from(to.mantissa.size);
    let mut exponent = u64::from(top) + u64::from(to.bias);
    let mut mantissa = if length > room { round(bits, length - room) } else { bits.shl(room - length) };
    if mantissa.bit(room) {
        exponent += 1;
        mantissa = if stored_one { mantissa.shr(1) } else { mantissa };
    }
    // Only beyond the largest exponent: with it, the mantissa stays, and the result is not a number. So does libhdf5.
    let largest = W::ones(to.exponent.size.into()).low();
    if exponent > largest {
        (exponent, mantissa) = (largest, W::ZERO);
    }
    made.set(to.exponent.at.into(), to.exponent.size.into(), W::of_low(exponent));
    made.set(to.mantissa.at.into(), room, mantissa);
    made
}

/// Drops the low `count` bits, at least one.
fn round<W: Word>(value: W, count: u32) -> W {
    let kept = value.shr(count);
    let half = value.bit(count - 1);
    let more = value.get(0, count - 1) != W::ZERO;
    if half && (more || kept.bit(0)) { kept.next() } else { kept }
}
