//! Floating point to floating point, rounded by the first bit that is cut off.

use super::Special;
use super::word::Word;
use crate::{Float, Normalization};

/// A number as `1.fraction × 2^exponent`.
struct Unpacked<W> {
    fraction: W,
    /// How many bits the fraction has.
    length: u32,
    exponent: i64,
    denormal: bool,
}

pub(super) fn convert<W: Word>(from: &Float, to: &Float, value: W) -> W {
    let negative = value.bit(from.sign.into());
    match Special::of(from, value) {
        Some(special) => special.write(to, negative),
        None => pack(to, unpack(from, value), negative),
    }
}

fn unpack<W: Word>(from: &Float, value: W) -> Unpacked<W> {
    let size = u32::from(from.mantissa.size);
    let mantissa = value.get(from.mantissa.at.into(), size);
    let stored = value.get(from.exponent.at.into(), from.exponent.size.into()).low() as i64;
    let bias = i64::from(from.bias);
    if stored != 0 && from.normalization != Normalization::None {
        return Unpacked { fraction: mantissa, length: size, exponent: stored.saturating_sub(bias), denormal: false };
    }
    let (fraction, length, below) = match mantissa.top() {
        Some(top) => (mantissa.get(0, top), top.max(1), size - top),
        // No bit at all, in a format that stores the leading one: libhdf5 sees it just below the mantissa.
        None => (W::ZERO, 0, size + 1),
    };
    let exponent = stored.saturating_sub(bias - 1 + i64::from(below));
    Unpacked { fraction, length, exponent, denormal: stored == 0 }
}

fn pack<W: Word>(to: &Float, number: Unpacked<W>, negative: bool) -> W {
    let Unpacked { mut fraction, mut length, exponent, mut denormal } = number;
    let room = u32::from(to.mantissa.size);
    let largest = W::ones(to.exponent.size.into()).low() as i64;
    // How far the leading one is below the place where it would be implied.
    let mut down = u32::from(to.normalization == Normalization::None);
    let mut exponent = exponent.saturating_add(i64::from(to.bias));
    if exponent < -i64::from(room) {
        (exponent, length, fraction) = (0, 0, W::ZERO);
    } else if exponent <= 0 {
        down += (1 - exponent) as u32;
        exponent = 0;
        denormal = true;
    } else if exponent >= largest {
        (exponent, length, fraction) = (largest, 0, W::ZERO);
    }

    // The leading bits: 1, or 2 after a carry.
    let mut leading = 1u64;
    if length > 0 && down <= room && down + length > room {
        let cut = down + length - room;
        let kept = length - cut;
        let upper = fraction.shr(cut);
        let full = upper == W::ones(kept);
        // A carry out of a denormal number is lost, and one into infinity is not made.
        if fraction.bit(cut - 1) && (denormal || !full || exponent < largest - 1) {
            fraction = upper.next().get(0, kept).shl(cut);
            if full && !denormal {
                leading = 2;
            }
        }
    }

    let mut made = W::ZERO;
    made.set(to.sign.into(), 1, W::of_bool(negative));
    let at = u32::from(to.mantissa.at);
    if down > room + 1 {
        // Too small for any bit.
    } else if down == room + 1 {
        made.set(at, 1, W::of_bool(true));
    } else if down == room {
        made.set(at, room.min(2), W::of_low(leading));
    } else {
        if down > 0 {
            // Two bits, the upper of which may fall on the neighbour of the mantissa, as in libhdf5.
            made.set(at + room - down, 2, W::of_low(leading));
        }
        let below = room - down;
        let placed = if length >= below { fraction.shr(length - below) } else { fraction.shl(below - length) };
        made.set(at, below, placed);
    }
    if leading == 2 {
        exponent += 1;
        if exponent >= largest {
            exponent = largest;
            made.set(at, room, W::ZERO);
        }
    }
    made.set(to.exponent.at.into(), to.exponent.size.into(), W::of_low(exponent as u64));
    made
}
