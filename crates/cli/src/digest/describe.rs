//! Datatypes in words.

use hyperslab::dtype::{Bits, Charset, Class, Datatype, Normalization, Order, Padding, Reference};

use super::json::Json;

/// A datatype, and whether it is a committed one.
pub(crate) fn datatype(datatype: &Datatype, committed: bool) -> Json {
    let mut json = describe(datatype);
    if committed {
        json.set("committed", Json::Bool(true));
    }
    json
}

fn describe(datatype: &Datatype) -> Json {
    let size = ("size", Json::from(datatype.size() as u64));
    let class = |class| ("class", Json::text(class));
    match datatype.class() {
        Class::Fixed(fixed) => {
            let mut json = number("int", datatype, &fixed.bits);
            json.set("signed", Json::Bool(fixed.signed));
            json
        }
        Class::Bitfield(bits) => number("bitfield", datatype, bits),
        Class::Time(time) => Json::object([class("time"), size, ("order", order(time.order))]),
        Class::Float(float) => {
            let mut json = number("float", datatype, &float.bits);
            let norm = match float.normalization {
                Normalization::Implied => "implied",
                Normalization::MsbSet => "msbset",
                Normalization::None => "none",
            };
            for (key, place) in [
                ("spos", float.sign),
                ("epos", float.exponent.at),
                ("esize", float.exponent.size),
                ("mpos", float.mantissa.at),
                ("msize", float.mantissa.size),
            ] {
                json.set(key, Json::from(u64::from(place)));
            }
            json.set("ebias", Json::from(u64::from(float.bias)));
            json.set("norm", Json::text(norm));
            json
        }
        Class::String(pad, cset) => {
            Json::object([class("string"), size, ("pad", padding(*pad)), ("cset", charset(*cset))])
        }
        Class::Opaque(tag) => Json::object([class("opaque"), size, ("tag", Json::bytes(tag))]),
        Class::Compound(compound) => {
            let packed = datatype.has_vlen() || datatype.has_reference();
            let members = compound.members().iter().map(|member| {
                let mut json =
                    Json::object([("name", Json::bytes(member.name.as_bytes())), ("type", describe(&member.datatype))]);
                if !packed {
                    json.set("offset", Json::from(u64::from(member.offset)));
                }
                json
            });
            let mut json = Json::object([class("compound"), ("members", members.collect())]);
            if !packed {
                json.set("size", Json::from(datatype.size() as u64));
            }
            json
        }
        Class::Reference(reference) => {
            let kind = match reference {
                Reference::Object => "object",
                Reference::Region => "region",
                Reference::Revised(_) => "std",
            };
            Json::object([class("ref"), ("kind", Json::text(kind))])
        }
        Class::Enum(names) => {
            let member = |(name, value): (&hyperslab::dtype::Name, Option<i128>)| {
                Json::List(vec![Json::bytes(name.as_bytes()), value.map_or(Json::Null, Json::Number)])
            };
            let members = names.values().map(member).collect();
            Json::object([class("enum"), ("base", describe(names.base())), ("members", members)])
        }
        Class::Vlen(vlen) => match vlen.text {
            Some((pad, cset)) => Json::object([class("vlstring"), ("pad", padding(pad)), ("cset", charset(cset))]),
            None => Json::object([class("vlen"), ("base", describe(&vlen.base))]),
        },
        Class::Array(array) => {
            let dims = array.dims().iter().map(|&dim| Json::from(u64::from(dim))).collect();
            Json::object([class("array"), ("dims", dims), ("base", describe(array.base()))])
        }
        Class::Complex(base) => Json::object([class("complex"), ("base", describe(base))]),
    }
}

fn number(class: &'static str, datatype: &Datatype, bits: &Bits) -> Json {
    Json::object([
        ("class", Json::text(class)),
        ("size", Json::from(datatype.size() as u64)),
        ("order", order(bits.order)),
        ("prec", Json::from(u64::from(bits.precision))),
        ("off", Json::from(u64::from(bits.offset))),
    ])
}

fn order(order: Order) -> Json {
    Json::text(match order {
        Order::Little => "LE",
        Order::Big => "BE",
        Order::Vax => "VAX",
    })
}

fn padding(padding: Padding) -> Json {
    Json::text(match padding {
        Padding::NullTerm => "nullterm",
        Padding::NullPad => "nullpad",
        Padding::SpacePad => "spacepad",
    })
}

fn charset(charset: Charset) -> Json {
    Json::text(match charset {
        Charset::Ascii => "ascii",
        Charset::Utf8 => "utf8",
    })
}
