//! Datatypes as people read them.

use std::fmt::{self, Display, Formatter, Write};

use crate::datatype::{Class, Datatype, Reference};
use crate::float::NAMED;
use crate::{Bits, Charset, Float, Order, Padding};

impl Display for Datatype {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let bits = 8 * u64::from(self.size);
        match self.class() {
            Class::Fixed(fixed) => {
                write!(out, "{}{bits}", if fixed.signed { 'i' } else { 'u' })?;
                number(out, &fixed.bits, self.size)
            }
            Class::Float(float) => show_float(out, float, self.size),
            Class::Time(time) => write!(out, "time{bits}{}", suffix(time.order, self.size)),
            Class::String(padding, charset) => {
                write!(out, "string({}", self.size)?;
                match padding {
                    Padding::NullTerm => {}
                    Padding::NullPad => out.write_str(", null-padded")?,
                    Padding::SpacePad => out.write_str(", space-padded")?,
                }
                out.write_str(if *charset == Charset::Utf8 { ", utf8)" } else { ")" })
            }
            Class::Bitfield(field) => {
                write!(out, "bits{bits}")?;
                number(out, field, self.size)
            }
            Class::Opaque(tag) => write!(out, "opaque({}, {:?})", self.size, String::from_utf8_lossy(tag)),
            Class::Compound(compound) => {
                out.write_str("compound ")?;
                list(out, compound.members(), |out, member| write!(out, "{}: {}", member.name, member.datatype))
            }
            Class::Reference(Reference::Object) => out.write_str("object reference"),
            Class::Reference(Reference::Region) => out.write_str("region reference"),
            Class::Reference(Reference::Revised(_)) => out.write_str("reference"),
            Class::Enum(_) if *self == Datatype::boolean() => out.write_str("bool"),
            Class::Enum(enumeration) => {
                write!(out, "enum {} ", enumeration.base())?;
                list(out, enumeration.values(), |out, (name, value)| match value {
                    Some(value) => write!(out, "{name} = {value}"),
                    None => write!(out, "{name}"),
                })
            }
            Class::Vlen(vlen) => match vlen.text {
                Some((_, Charset::Utf8)) => out.write_str("string(utf8)"),
                Some((_, Charset::Ascii)) => out.write_str("string"),
                None => write!(out, "vlen {{{}}}", vlen.base),
            },
            Class::Array(array) => {
                write!(out, "{}", array.base())?;
                array.dims().iter().try_for_each(|dim| write!(out, "[{dim}]"))
            }
            Class::Complex(base) => write!(out, "complex {{{base}}}"),
        }
    }
}

/// Items in braces.
fn list<T>(
    out: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    show: impl Fn(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    out.write_char('{')?;
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        show(out, item)?;
    }
    out.write_char('}')
}

fn suffix(order: Order, size: u32) -> &'static str {
    match order {
        Order::Big if size > 1 => "be",
        Order::Vax => "vax",
        _ => "",
    }
}

/// What the name of a number leaves open.
fn number(out: &mut Formatter<'_>, bits: &Bits, size: u32) -> fmt::Result {
    out.write_str(suffix(bits.order, size))?;
    if bits.offset == 0 && u64::from(bits.precision) == 8 * u64::from(size) {
        return Ok(());
    }
    write!(out, "({} bits", bits.precision)?;
    if bits.offset > 0 {
        write!(out, " at {}", bits.offset)?;
    }
    out.write_char(')')
}

fn show_float(out: &mut Formatter<'_>, float: &Float, size: u32) -> fmt::Result {
    let named = NAMED.iter().find(|(_, of_size, known)| {
        let order = if known.bits.order == Order::Vax { Order::Vax } else { float.bits.order };
        *of_size == size && known.in_order(order) == *float
    });
    match named {
        Some((name, _, known)) if known.bits.order == Order::Vax => out.write_str(name),
        Some((name, ..)) => write!(out, "{name}{}", suffix(float.bits.order, size)),
        None => {
            write!(out, "float{}{}", 8 * u64::from(size), suffix(float.bits.order, size))?;
            write!(out, "({} exponent, {} mantissa bits)", float.exponent.size, float.mantissa.size)
        }
    }
}
