//! Floats: scaled by a power of ten and rounded, they are integers above the least of them.

use std::ops::{Add, Div, Mul, Sub};

use super::{Header, Params, integer::ceil_log2};

/// The two types, in whose own precision the format reckons.
trait Real: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn from_packed(packed: u64) -> Self;
    fn power_of_ten(exponent: i32) -> Self;
    fn abs(self) -> Self;
    fn is_finite(self) -> bool;
    /// Halves away from zero.
    fn round(self) -> i64;
    fn as_f64(self) -> f64;
}

macro_rules! real {
    ($float:ty, $unsigned:ty, $signed:ty) => {
        impl Real for $float {
            fn from_bits(bits: u64) -> Self {
                <$float>::from_bits(bits as $unsigned)
            }
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn from_packed(packed: u64) -> Self {
                packed as $signed as $float
            }
            fn power_of_ten(exponent: i32) -> Self {
                <$float>::powf(10.0, exponent as $float)
            }
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
            fn round(self) -> i64 {
                <$float>::round(self) as i64
            }
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

real!(f32, u32, i32);
real!(f64, u64, i64);

/// Finds the least value, and the bits that the greatest needs above it once both are scaled.
pub(super) fn measure(params: &Params, input: &[u8]) -> Header {
    if params.of.size == 4 { measure_as::<f32>(params, input) } else { measure_as::<f64>(params, input) }
}

/// What a value is packed as.
pub(super) fn reduce(params: &Params, header: Header) -> impl Fn(u64) -> u64 {
    let scale = Scale::of(params, header);
    move |value| match &scale {
        Scale::Single(scale) => scale.reduce(value),
        Scale::Double(scale) => scale.reduce(value),
    }
}

/// The opposite.
pub(super) fn restore(params: &Params, header: Header) -> impl Fn(u64) -> u64 {
    let scale = Scale::of(params, header);
    move |packed| match &scale {
        Scale::Single(scale) => scale.restore(packed),
        Scale::Double(scale) => scale.restore(packed),
    }
}

enum Scale {
    Single(ScaleIn<f32>),
    Double(ScaleIn<f64>),
}

impl Scale {
    fn of(params: &Params, header: Header) -> Scale {
        if params.of.size == 4 {
            Scale::Single(ScaleIn::new(params, header))
        } else {
            Scale::Double(ScaleIn::new(params, header))
        }
    }
}

struct ScaleIn<R> {
    power: R,
    least: R,
    fill: Option<Fill<R>>,
    ones: u64,
}

/// The fill value, and what counts as it: values that differ by less than the last digit kept.
struct Fill<R> {
    value: R,
    nearness: R,
}

impl<R: Real> Fill<R> {
    fn of(params: &Params) -> Option<Fill<R>> {
        let nearness = R::power_of_ten(params.factor.saturating_neg());
        params.fill.map(|fill| Fill { value: R::from_bits(fill), nearness })
    }

    fn is(&self, value: R) -> bool {
        (value - self.value).abs() < self.nearness
    }
}

impl<R: Real> ScaleIn<R> {
    fn new(params: &Params, header: Header) -> ScaleIn<R> {
        let (power, least) = (R::power_of_ten(params.factor), R::from_bits(header.least));
        ScaleIn { power, least, fill: Fill::of(params), ones: header.ones() }
    }

    fn reduce(&self, value: u64) -> u64 {
        let value = R::from_bits(value);
        match &self.fill {
            Some(fill) if fill.is(value) => self.ones,
            _ => (value * self.power - self.least * self.power).round() as u64,
        }
    }

    fn restore(&self, packed: u64) -> u64 {
        match &self.fill {
            Some(fill) if packed == self.ones => fill.value.bits(),
            _ => (R::from_packed(packed) / self.power + self.least).bits(),
        }
    }
}

fn measure_as<R: Real>(params: &Params, input: &[u8]) -> Header {
    let fill = Fill::of(params);
    let values = input.chunks_exact(params.of.size).map(|element| R::from_bits(params.of.load(element)));
    let as_they_are = Header { bits: params.of.bits(), least: 0 };
    let mut range = None;
    for value in values.filter(|value| !fill.as_ref().is_some_and(|fill| fill.is(*value))) {
        if !value.is_finite() {
            return as_they_are;
        }
        let (least, greatest) = range.unwrap_or((value, value));
        range = Some((if value < least { value } else { least }, if value > greatest { value } else { greatest }));
    }
    let power = R::power_of_ten(params.factor);
    let (least, greatest) = range.unwrap_or((R::from_packed(0), R::from_packed(0)));
    let above = greatest * power - least * power;
    let room = 2f64.powi(params.of.bits() as i32 - 1);
    if above.as_f64() < room {
        let numbers = above.round() as u128 + 1 + u128::from(fill.is_some());
        Header { bits: ceil_log2(numbers), least: least.bits() }
    } else {
        as_they_are
    }
}
