//! Floating point to integer: the fraction is dropped, what does not fit becomes the nearest value that does.

use super::Special;
use super::word::Word;
use crate::{Fixed, Float, Normalization};

pub(super) fn convert<W: Word>(from: &Float, to: &Fixed, value: W) -> W {
    let (offset, precision) = (u32::from(to.bits.offset), u32::from(to.bits.precision));
    let negative = value.bit(from.sign.into());
    match Special::of(from, value) {
        Some(Special::Zero | Special::NotANumber) => W::ZERO,
        // libhdf5 forgets the offset here.
        Some(Special::Infinite) if negative && to.signed => lowest(precision),
        Some(Special::Infinite) if negative => W::ZERO,
        Some(Special::Infinite) => highest::<W>(to).shl(offset),
        None => magnitude(from, to, value, negative).shl(offset),
    }
}

fn magnitude<W: Word>(from: &Float, to: &Fixed, value: W, negative: bool) -> W {
    let precision = i64::from(to.bits.precision);
    let mantissa_size = u32::from(from.mantissa.size);
    let stored = value.get(from.exponent.at.into(), from.exponent.size.into()).low();
    let mut mantissa = value.get(from.mantissa.at.into(), mantissa_size);
    let mut exponent = (stored as i64).saturating_sub(i64::from(from.bias));
    if stored == 0 || from.normalization == Normalization::None {
        exponent = exponent.saturating_add(1);
    }
    if from.normalization != Normalization::None {
        // Also where the number is denormal: libhdf5 gives it a leading one.
        mantissa.set(mantissa_size, 1, W::of_bool(true));
    }
    let Some(top) = mantissa.top() else { return W::ZERO };
    let shift = exponent.saturating_sub(mantissa_size.into());
    let place = i64::from(top).saturating_add(shift);
    let shifted = || match u32::try_from(shift) {
        Ok(left) => mantissa.shl(left),
        Err(_) => mantissa.shr(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX)),
    };
    match (negative, to.signed) {
        // Between one half and one: truncated to zero before signs are looked at.
        _ if place == -1 => W::ZERO,
        (true, false) => W::ZERO,
        (true, true) if (0..precision - 1).contains(&place) => shifted().not().next(),
        // Also below one half: libhdf5 takes a place below the binary point for an overflow.
        (true, true) => lowest(to.bits.precision.into()),
        (false, _) if place >= precision - i64::from(to.signed) => highest(to),
        (false, _) => shifted(),
    }
    .get(0, to.bits.precision.into())
}

fn highest<W: Word>(to: &Fixed) -> W {
    W::ones(u32::from(to.bits.precision) - u32::from(to.signed))
}

fn lowest<W: Word>(precision: u32) -> W {
    W::of_bool(true).shl(precision - 1)
}
