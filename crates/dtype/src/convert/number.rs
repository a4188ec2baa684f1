//! A number as a conversion sees it: its size and where its bits are.

use super::soft::word::Word;
use crate::datatype::{Class, Datatype};
use crate::{Bits, Fixed, Float};

/// The largest number that is converted, in bytes, as in libhdf5.
pub(super) const MAX_SIZE: usize = 64;

/// An integer or a floating-point number of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(super) size: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Int(Fixed),
    Float(Float),
}

impl Number {
    pub(crate) fn of(datatype: &Datatype) -> Option<Number> {
        let kind = match datatype.class() {
            Class::Fixed(fixed) => Kind::Int(*fixed),
            Class::Float(float) => Kind::Float(*float),
            _ => return None,
        };
        Some(Number { size: datatype.size(), kind })
    }

    pub(super) fn bits(&self) -> &Bits {
        match &self.kind {
            Kind::Int(fixed) => &fixed.bits,
            Kind::Float(float) => &float.bits,
        }
    }

    /// The value of an integer of at most 16 bytes.
    pub(crate) fn to_i128(self, bytes: &[u8]) -> Option<i128> {
        let Kind::Int(Fixed { bits, signed }) = self.kind else { return None };
        if self.size > u128::BYTES || bytes.len() != self.size {
            return None;
        }
        let unused = 128 - u32::from(bits.precision);
        let top = u128::load(bytes, bits.order).get(bits.offset.into(), bits.precision.into()) << unused;
        Some(if signed { top as i128 >> unused } else { (top >> unused) as i128 })
    }

    /// Writes an integer of at most 16 bytes; false if it is none or the value does not fit.
    pub(crate) fn of_i128(self, value: i128, bytes: &mut [u8]) -> bool {
        let Kind::Int(Fixed { bits, .. }) = self.kind else { return false };
        if self.size > u128::BYTES || bytes.len() != self.size {
            return false;
        }
        let mut word = u128::padding(&bits, self.size);
        word.set(bits.offset.into(), bits.precision.into(), value as u128);
        word.store(bytes, bits.order);
        self.to_i128(bytes) == Some(value)
    }
}
