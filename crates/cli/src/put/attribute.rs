//! Attributes in words: `name=value`.

use super::fit;
use crate::failure::Failure;
use hyperslab::Node;

/// An attribute that is to be set.
pub(super) struct Attribute<'a> {
    name: &'a str,
    value: Value<'a>,
}

enum Value<'a> {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Text(&'a str),
}

impl<'a> Attribute<'a> {
    /// A value that is a number of 64 bits is one; what would be rounded to an integer that it is not, stays text.
    pub(super) fn new(text: &'a str) -> Result<Attribute<'a>, Failure> {
        let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = parts.ok_or_else(|| Failure::Attribute(text.into()))?;
        let value = match (value.parse(), value.parse(), fit::number(value)) {
            (Ok(number), ..) => Value::Signed(number),
            (_, Ok(number), _) => Value::Unsigned(number),
            (.., Some(number)) if !fit::is_whole(value) => Value::Real(number),
            _ => Value::Text(value),
        };
        Ok(Attribute { name, value })
    }

    pub(super) fn set(&self, node: &Node) -> hyperslab::Result<()> {
        match self.value {
            Value::Signed(number) => node.set_attribute(self.name, number),
            Value::Unsigned(number) => node.set_attribute(self.name, number),
            Value::Real(number) => node.set_attribute(self.name, number),
            Value::Text(text) => node.set_attribute(self.name, text),
        }
    }
}
