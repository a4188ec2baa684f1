//! Pairs of datatypes that libhdf5 converts. What is left out, and why, is told in `docs/datatypes.md`.

use hyperslab_dtype::{Class, Datatype, Fixed, Float, Order};

use super::*;

/// A datatype and one that it can be converted to.
pub fn pair(rng: &mut Rng, depth: u32) -> (Datatype, Datatype) {
    let choice = if depth == 0 { rng.range(0, 9) } else { rng.range(0, 12) };
    match choice {
        0 => (native(rng), native(rng)),
        1..4 => numbers(rng),
        4 => with_complex(rng),
        5 => {
            let charset = charset(rng);
            let mut string = || Datatype::string(rng.range(1, 12), padding(rng), charset).unwrap();
            (string(), string())
        }
        6 => (bitfield(rng), bitfield(rng)),
        7 => enums(rng),
        8 => from_enum(rng),
        9 => loop {
            // libhdf5 follows pointers in revised references.
            let same = leaf(rng);
            if !matches!(same.class(), Class::Reference(Reference::Revised(_))) {
                return (same.clone(), same);
            }
        },
        10 => {
            let (from, to) = pair(rng, depth - 1);
            let dims: Vec<u32> = (0..rng.range(1, 2)).map(|_| rng.range(1, 3)).collect();
            (Datatype::array(from, &dims).unwrap(), Datatype::array(to, &dims).unwrap())
        }
        _ => compounds(rng, depth),
    }
}

fn number(rng: &mut Rng) -> Datatype {
    if rng.one_in(2) { integer(rng) } else { float(rng) }
}

fn numbers(rng: &mut Rng) -> (Datatype, Datatype) {
    loop {
        if rng.one_in(40) {
            return (Datatype::float(2, Float::BF16).unwrap(), Datatype::float(4, Float::F32).unwrap());
        }
        // The same format with its bytes in the other order is common, so it is asked for.
        let from = number(rng);
        let to = match from.class() {
            Class::Fixed(fixed) if rng.one_in(5) => {
                let order = if fixed.bits.order == Order::Big { Order::Little } else { Order::Big };
                Datatype::fixed(from.size() as u32, Fixed { bits: Bits { order, ..fixed.bits }, signed: rng.one_in(2) })
                    .unwrap()
            }
            Class::Float(float) if rng.one_in(5) => {
                Datatype::float(from.size() as u32, float.in_order(rng.order())).unwrap()
            }
            _ => number(rng),
        };
        if defined(&from, &to) {
            return (from, to);
        }
    }
}

fn parts(datatype: &Datatype) -> (&Class, u32) {
    (datatype.class(), datatype.size() as u32)
}

/// Whether libhdf5 gives this pair of numbers a result at all that follows from the values alone.
fn defined(from: &Datatype, to: &Datatype) -> bool {
    match (parts(from), parts(to)) {
        // A mantissa at the very top may write one bit beyond the number; VAX results come out half swapped.
        ((Class::Float(_), _), (Class::Float(to), size)) => {
            below_top(to, size) && to.bits.order != Order::Vax || from == to_type(to, size)
        }
        // Integers with a few bits more than the float has bytes for overrun a buffer.
        ((Class::Float(_), size), (Class::Fixed(to), _)) => {
            let precision = u32::from(to.bits.precision);
            precision <= 8 * size || precision / 8 > size
        }
        // Of the bits that are rounded away, no more than 64 are looked at.
        ((Class::Fixed(from), _), (Class::Float(to), _)) => {
            u32::from(from.bits.precision) <= u32::from(to.mantissa.size) + 64
        }
        _ => true,
    }
}

fn to_type(float: &Float, size: u32) -> &'static Datatype {
    Box::leak(Box::new(Datatype::float(size, *float).unwrap()))
}

fn below_top(float: &Float, size: u32) -> bool {
    u32::from(float.mantissa.at) + u32::from(float.mantissa.size) < 8 * size
}

fn is_vax(datatype: &Datatype) -> bool {
    matches!(datatype.class(), Class::Float(float) if float.bits.order == Order::Vax)
}

fn with_complex(rng: &mut Rng) -> (Datatype, Datatype) {
    loop {
        let native_part = |rng: &mut Rng| rng.pick(&[(4, Float::F32), (8, Float::F64), (16, Float::X87)]);
        let part = |rng: &mut Rng| match rng.one_in(2) {
            true => {
                let (size, format) = native_part(rng);
                Datatype::float(size, format).unwrap()
            }
            false => float(rng),
        };
        let (base, other) = (part(rng), if rng.one_in(2) { native(rng) } else { number(rng) });
        let second = part(rng);
        if [&base, &second, &other].iter().any(|part| is_vax(part)) {
            continue;
        }
        let complex = Datatype::complex(base.clone()).unwrap();
        let (from, to, defined) = match rng.range(0, 6) {
            0 | 1 => {
                let defined = defined(&base, &second);
                (complex, Datatype::complex(second).unwrap(), defined)
            }
            2 | 3 => (complex, other.clone(), defined(&base, &other)),
            4 => {
                let defined = defined(&other, &base);
                (other, complex, defined)
            }
            5 => (complex, Datatype::array(base, &[2]).unwrap(), true),
            _ => {
                let names = rng.pick(&[["r", "i"], ["real", "imag"], ["re", "imaginary"]]);
                (Datatype::compound([(names[0], base.clone()), (names[1], base)]).unwrap(), complex, true)
            }
        };
        if defined {
            return (from, to);
        }
    }
}

/// Two enumerations with the same names.
fn enums(rng: &mut Rng) -> (Datatype, Datatype) {
    loop {
        let (from, to) = (enumeration(rng), enumeration(rng));
        if let (Class::Enum(before), Class::Enum(after)) = (from.class(), to.class()) {
            let count = before.members().len().min(after.members().len());
            let names: Vec<Name> = before.members().take(count).map(|(name, _)| name.clone()).collect();
            let cut = |names: Vec<Name>, of: &hyperslab_dtype::Enum| {
                let values: Vec<u8> = of.members().take(count).flat_map(|(_, value)| value.to_vec()).collect();
                Datatype::enumeration_of(of.base().clone(), names, values).unwrap()
            };
            let mut turned = names.clone();
            turned.rotate_left(rng.range(0, count as u32 - 1) as usize);
            return (cut(names, before), cut(turned, after));
        }
    }
}

fn from_enum(rng: &mut Rng) -> (Datatype, Datatype) {
    loop {
        let (from, to) = (enumeration(rng), number(rng));
        if defined(from.base().unwrap(), &to) {
            return (from, to);
        }
    }
}

/// Compounds that share some names.
fn compounds(rng: &mut Rng, depth: u32) -> (Datatype, Datatype) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for at in 0..rng.range(1, 5) {
        let name = format!("m{at}").into_bytes();
        let (from, to) = pair(rng, depth - 1);
        let both = at == 0;
        if both || !rng.one_in(4) {
            before.push((name.clone(), from));
        }
        if both || !rng.one_in(4) {
            after.push((name, to));
        }
    }
    // One the start of the other: libhdf5 has a short way for it.
    if rng.one_in(6) {
        let from = compound(rng, before);
        let Class::Compound(members) = from.class() else { unreachable!() };
        let mut sorted: Vec<_> = members.members().to_vec();
        sorted.sort_by_key(|member| member.offset);
        sorted.truncate(rng.range(1, sorted.len() as u32) as usize);
        let placed = sorted.into_iter().map(|member| (member.name.as_bytes().to_vec(), member.offset, member.datatype));
        let to = Datatype::compound_at(from.size() as u32 + 3, placed).unwrap();
        return if rng.one_in(2) { (from, to) } else { (to, from) };
    }
    (compound(rng, before), compound(rng, after))
}
