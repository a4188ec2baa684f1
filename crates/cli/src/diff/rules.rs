//! When two values are equal.

use super::Side;
use hyperslab::{Part, Value};

/// How near numbers must be, and what is with NaN.
pub(crate) struct Rules {
    pub(crate) absolute: f64,
    pub(crate) relative: f64,
    pub(crate) nan_differs: bool,
}

impl Rules {
    /// Whether equal bytes are equal values, whatever they are.
    pub(crate) fn are_plain(&self) -> bool {
        !self.nan_differs
    }

    /// Whether a value of the left side equals one of the right side.
    pub(crate) fn equal(&self, left: &Value, right: &Value, sides: (&Side, &Side)) -> bool {
        match (left, right) {
            (Value::Extended { bytes: left, .. }, Value::Extended { bytes: right, .. }) if left == right => true,
            (Value::Enum { name: Some(left), .. }, Value::Enum { name: Some(right), .. }) => left == right,
            (Value::Enum { value: left, .. }, Value::Enum { value: right, .. }) => self.equal(left, right, sides),
            (Value::Complex(left), Value::Complex(right)) => self.all(&left[..], &right[..], sides),
            (Value::Array(left), Value::Array(right)) | (Value::Sequence(left), Value::Sequence(right)) => {
                self.all(left, right, sides)
            }
            (Value::Compound(left), Value::Compound(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|((name, left), (other, right))| name == other && self.equal(left, right, sides))
            }
            (Value::Reference(left), Value::Reference(right)) => {
                let (from, to) = (sides.0.names.path(left), sides.1.names.path(right));
                let same_object = match (from, to) {
                    (Some(from), Some(to)) => from == to,
                    // Objects in other files, or that lost all their names.
                    (None, None) => left.file == right.file && left.address == right.address,
                    _ => false,
                };
                same_object
                    && match (&left.part, &right.part) {
                        (Part::Region(left), Part::Region(right)) => left == right,
                        (left, right) => left == right,
                    }
            }
            // What cannot be followed cannot be compared with what is elsewhere.
            (Value::Dangling { bytes: left, .. }, Value::Dangling { bytes: right, .. }) => left == right,
            _ => match (whole(left), whole(right)) {
                (Some(left), Some(right)) if left == right => true,
                _ => match (number(left), number(right)) {
                    (Some(left), Some(right)) => self.near(left, right),
                    _ => left == right,
                },
            },
        }
    }

    fn all(&self, left: &[Value], right: &[Value], sides: (&Side, &Side)) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(left, right)| self.equal(left, right, sides))
    }

    fn near(&self, left: f64, right: f64) -> bool {
        if left.is_nan() || right.is_nan() {
            return left.is_nan() && right.is_nan() && !self.nan_differs;
        }
        let distance = (left - right).abs();
        // Infinities are near nothing but themselves.
        left == right
            || distance.is_finite()
                && (distance > 0.0 && distance <= self.absolute
                    || distance <= self.relative * left.abs().max(right.abs()) && self.relative > 0.0)
    }
}

/// An integer; nothing if it is none, or does not fit.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Signed(number) => Some(*number),
        Value::Unsigned(number) => i128::try_from(*number).ok(),
        _ => None,
    }
}

/// A number, as near as a double can be. What is not a number and what differs only beyond a double are told apart before.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Signed(number) => Some(*number as f64),
        Value::Unsigned(number) => Some(*number as f64),
        Value::F32(number) => Some(f64::from(*number)),
        Value::F64(number) => Some(*number),
        Value::Extended { near, .. } => Some(*near),
        _ => None,
    }
}
