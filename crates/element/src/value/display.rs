//! Values as people read them.

use std::fmt::{self, Display, Formatter, Write};

use super::Value;
use hyperslab_session::quoted;

use crate::Referent;

/// A value as text, with names for what references refer to.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    value: &'a Value,
    name: &'a dyn Fn(&Referent) -> Option<String>,
}

impl Value {
    /// The value as text, with `name` for what a reference refers to, where it knows one.
    ///
    /// ```
    /// use hyperslab::{Part, Referent, Value};
    /// let value = Value::Reference(Box::new(Referent { file: None, address: 800, part: Part::Object }));
    /// assert_eq!(value.to_string(), "object at 0x320");
    /// assert_eq!(value.shown(&|_| Some("/images".into())).to_string(), "/images");
    /// ```
    pub fn shown<'a>(&'a self, name: &'a dyn Fn(&Referent) -> Option<String>) -> Shown<'a> {
        Shown { value: self, name }
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.shown(&|_| None).fmt(out)
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Null => out.write_str("null"),
            Value::Bool(truth) => write!(out, "{truth}"),
            Value::Signed(number) => write!(out, "{number}"),
            Value::Unsigned(number) => write!(out, "{number}"),
            Value::F32(number) => write!(out, "{number:?}"),
            Value::F64(number) => write!(out, "{number:?}"),
            Value::Extended { near, .. } => write!(out, "{near:?}"),
            Value::Complex(parts) => {
                let [real, imaginary] = &**parts;
                let imaginary = imaginary.to_string();
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                write!(out, "{real}{sign}{imaginary}i")
            }
            Value::Text(bytes) => quoted(out, bytes),
            Value::Bytes(bytes) => hex(out, bytes),
            Value::Bits { bits, width } => {
                let digits = 2 + usize::from(width.div_ceil(4));
                write!(out, "{bits:#0digits$x}")
            }
            Value::Enum { name: Some(name), .. } => write!(out, "{name}"),
            Value::Enum { name: None, value } => write!(out, "{value}"),
            Value::Compound(members) => {
                listed(out, ('{', '}'), members, |out, (name, value)| write!(out, "{name}: {}", value.shown(self.name)))
            }
            Value::Array(values) | Value::Sequence(values) => {
                listed(out, ('[', ']'), values, |out, value| write!(out, "{}", value.shown(self.name)))
            }
            Value::Reference(referent) => match (self.name)(referent) {
                Some(name) => out.write_str(&name),
                None => write!(out, "{referent}"),
            },
            Value::Dangling { bytes, .. } => {
                out.write_str("dangling ")?;
                hex(out, bytes)
            }
        }
    }
}

fn listed<T>(
    out: &mut Formatter<'_>,
    (open, close): (char, char),
    items: &[T],
    show: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    out.write_char(open)?;
    for (nth, item) in items.iter().enumerate() {
        out.write_str(if nth > 0 { ", " } else { "" })?;
        show(out, item)?;
    }
    out.write_char(close)
}

fn hex(out: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    out.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}
