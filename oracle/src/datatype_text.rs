//! Datatypes in words, the same as `making/datatype_text.py` makes of libhdf5's.

use crate::hex;
use hyperslab::dtype::{Bits, Charset, Class, Datatype, Float, Normalization, Order, Padding, Reference};

/// A datatype in words. Sizes and offsets that differ between file and memory are left out.
pub(crate) fn describe(datatype: &Datatype) -> String {
    let size = datatype.size();
    match datatype.class() {
        Class::Fixed(fixed) => words("int", [bits(size, &fixed.bits), u8::from(fixed.signed).to_string()]),
        Class::Bitfield(field) => words("bits", [bits(size, field)]),
        Class::Float(fields) => words("float", [bits(size, &fields.bits), float(fields)]),
        Class::Time(time) => words("time", [size.to_string(), order(time.order).into()]),
        Class::String(padding, charset) => words("string", [size.to_string(), text(*padding, *charset)]),
        Class::Opaque(tag) => words("opaque", [size.to_string(), hex(tag)]),
        Class::Compound(compound) => {
            let loose = datatype.has_vlen() || datatype.has_reference();
            let or_any = |number: usize| if loose { "any".to_owned() } else { number.to_string() };
            let members = compound.members().iter().map(|member| {
                let offset = or_any(member.offset as usize);
                format!("{} {offset} {}", hex(member.name.as_bytes()), describe(&member.datatype))
            });
            words("compound", [or_any(size)].into_iter().chain(members))
        }
        Class::Reference(Reference::Object) => words("reference", ["object".into()]),
        Class::Reference(Reference::Region) => words("reference", ["region".into()]),
        Class::Reference(Reference::Revised(_)) => words("reference", ["revised".into()]),
        Class::Enum(names) => {
            let members = names.members().map(|(name, value)| format!("{} {}", hex(name.as_bytes()), hex(value)));
            words("enum", [describe(names.base())].into_iter().chain(members))
        }
        Class::Vlen(vlen) => match vlen.text {
            Some((padding, charset)) => words("string", ["any".into(), text(padding, charset)]),
            None => words("vlen", [describe(&vlen.base)]),
        },
        Class::Array(array) => words("array", array.dims().iter().map(u32::to_string).chain([describe(array.base())])),
        Class::Complex(base) => words("complex", [describe(base)]),
    }
}

fn words(name: &str, words: impl IntoIterator<Item = String>) -> String {
    format!("{name}({})", words.into_iter().collect::<Vec<_>>().join(" "))
}

fn bits(size: usize, bits: &Bits) -> String {
    let Bits { order: of, precision, offset, low_pad, high_pad } = bits;
    format!("{size} {} {precision} {offset} {} {}", order(*of), u8::from(*low_pad), u8::from(*high_pad))
}

fn float(float: &Float) -> String {
    let Float { sign, exponent, mantissa, bias, .. } = float;
    let normalization = match float.normalization {
        Normalization::Implied => 0,
        Normalization::MsbSet => 1,
        Normalization::None => 2,
    };
    let fields = format!("{sign} {} {} {} {}", exponent.at, exponent.size, mantissa.at, mantissa.size);
    format!("{fields} {bias} {normalization} {}", u8::from(float.inner_pad))
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Little => "le",
        Order::Big => "be",
        Order::Vax => "vax",
    }
}

fn text(padding: Padding, charset: Charset) -> String {
    format!("{} {}", padding as u8, charset as u8)
}
