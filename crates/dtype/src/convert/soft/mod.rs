//! Conversion bit by bit, for any size, precision, offset, order and floating-point format.
//!
//! The results are those of libhdf5's own bit arithmetic, oddities included: `docs/datatypes.md` lists them. Values of up to 8 or 16
//! bytes are worked with as one machine integer, larger ones as eight words; the arithmetic is written once.

mod float_float;
mod float_int;
mod int_float;
mod int_int;
pub(super) mod word;

use self::word::{Wide, Word};
use super::lane::Lanes;
use super::number::{Kind, Number};
use crate::{Bits, Fixed, Float, Normalization};

/// One conversion between two numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Soft {
    from: Number,
    to: Number,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    IntInt(Fixed, Fixed),
    IntFloat(Fixed, Float),
    FloatInt(Float, Fixed),
    FloatFloat(Float, Float),
    /// One format, but special values become the usual ones.
    Same(Float),
    /// Bits of two bit fields.
    Bits(Bits, Bits),
}

impl Soft {
    pub(super) fn numbers(from: Number, to: Number) -> Soft {
        let rule = match (from.kind, to.kind) {
            (Kind::Int(a), Kind::Int(b)) => Rule::IntInt(a, b),
            (Kind::Int(a), Kind::Float(b)) => Rule::IntFloat(a, b),
            (Kind::Float(a), Kind::Int(b)) => Rule::FloatInt(a, b),
            (Kind::Float(a), Kind::Float(b)) => Rule::FloatFloat(a, b),
        };
        Soft { from, to, rule }
    }

    pub(super) fn same(number: Number, float: Float) -> Soft {
        Soft { from: number, to: number, rule: Rule::Same(float) }
    }

    /// Bit fields are numbers without a sign as far as their place is concerned.
    pub(super) fn bits(from: (usize, Bits), to: (usize, Bits)) -> Soft {
        let number = |(size, bits)| Number { size, kind: Kind::Int(Fixed { bits, signed: false }) };
        Soft { from: number(from), to: number(to), rule: Rule::Bits(from.1, to.1) }
    }

    pub(super) fn run(&self, lanes: Lanes<'_>) {
        match self.from.size.max(self.to.size) {
            size if size <= u64::BYTES => self.run_as::<u64>(lanes),
            size if size <= u128::BYTES => self.run_as::<u128>(lanes),
            _ => self.run_as::<Wide>(lanes),
        }
    }

    /// One loop for each rule, so that the compiler sees each whole.
    fn run_as<W: Word>(&self, lanes: Lanes<'_>) {
        match &self.rule {
            Rule::IntInt(from, to) => self.each::<W>(lanes, |value| int_int::convert(from, to, value)),
            Rule::IntFloat(from, to) => self.each::<W>(lanes, |value| int_float::convert(from, to, value)),
            Rule::FloatInt(from, to) => self.each::<W>(lanes, |value| float_int::convert(from, to, value)),
            Rule::FloatFloat(from, to) => self.each::<W>(lanes, |value| float_float::convert(from, to, value)),
            Rule::Same(float) => self.each::<W>(lanes, |value| match Special::of(float, value) {
                Some(special) => special.write(float, value.bit(float.sign.into())),
                None => value,
            }),
            Rule::Bits(from, to) => self.each::<W>(lanes, |value| {
                let mut made = W::ZERO;
                made.set(to.offset.into(), to.precision.into(), value.get(from.offset.into(), from.precision.into()));
                made
            }),
        }
    }

    fn each<W: Word>(&self, lanes: Lanes<'_>, convert: impl Fn(W) -> W) {
        let bits = *self.to.bits();
        let order = self.from.bits().order;
        let significant = W::ones(bits.precision.into()).shl(bits.offset.into());
        let padding = W::padding(&bits, self.to.size);
        lanes.each(self.from.size, self.to.size, |from, to| {
            let made = convert(W::load(from, order));
            // Bits that a rule puts outside the value are lost.
            made.and(significant).or(padding).store(to, bits.order);
        });
    }
}

/// Values that are not numbers times a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Special {
    Zero,
    Infinite,
    NotANumber,
}

impl Special {
    fn of<W: Word>(float: &Float, value: W) -> Option<Special> {
        let mantissa = value.get(float.mantissa.at.into(), float.mantissa.size.into());
        let exponent = value.get(float.exponent.at.into(), float.exponent.size.into());
        let all_ones = exponent == W::ones(float.exponent.size.into());
        if mantissa == W::ZERO {
            return match exponent == W::ZERO {
                true => Some(Special::Zero),
                false => all_ones.then_some(Special::Infinite),
            };
        }
        // A stored leading one does not make an infinity a NaN.
        let below = u32::from(float.mantissa.size) - 1;
        let only_top = float.normalization == Normalization::None && mantissa.get(0, below) == W::ZERO;
        all_ones.then_some(if only_top { Special::Infinite } else { Special::NotANumber })
    }

    fn write<W: Word>(self, float: &Float, negative: bool) -> W {
        let (mantissa, exponent) = (float.mantissa, float.exponent);
        let mut made = W::ZERO;
        made.set(float.sign.into(), 1, W::of_bool(negative));
        if self != Special::Zero {
            made.set(exponent.at.into(), exponent.size.into(), W::ones(exponent.size.into()));
        }
        match self {
            Special::Zero => {}
            Special::NotANumber => made.set(mantissa.at.into(), mantissa.size.into(), W::ones(mantissa.size.into())),
            Special::Infinite if float.normalization == Normalization::None => {
                made.set(u32::from(mantissa.at) + u32::from(mantissa.size) - 1, 1, W::of_bool(true));
            }
            Special::Infinite => {}
        }
        made
    }
}
