//! Values for a conversion: ordinary ones, the ends of ranges, and floating-point numbers of every kind.

use hyperslab_dtype::{Class, Datatype, Float, Normalization, Order};

use super::Rng;

/// A small number, in either byte order.
pub fn small(rng: &mut Rng, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let at = if rng.one_in(2) { 0 } else { size - 1 };
    bytes[at] = rng.range(0, 9) as u8;
    bytes
}

/// One value of `from`, such that libhdf5 defines what becomes of it as `to`.
pub fn value(rng: &mut Rng, from: &Datatype, to: &Datatype) -> Vec<u8> {
    match (from.class(), to.class()) {
        (Class::Compound(before), Class::Compound(after)) => {
            let mut bytes = rng.bytes(from.size());
            for member in before.members() {
                let to = after
                    .members()
                    .iter()
                    .find(|other| other.name == member.name)
                    .map_or(&member.datatype, |other| &other.datatype);
                bytes[member.offset as usize..][..member.datatype.size()].copy_from_slice(&value(
                    rng,
                    &member.datatype,
                    to,
                ));
            }
            bytes
        }
        (Class::Array(before), Class::Array(after)) => {
            (0..before.elements()).flat_map(|_| value(rng, before.base(), after.base())).collect()
        }
        (Class::Complex(before), Class::Complex(after)) => {
            let finite = before != after && !(is_c(before) && is_c(after));
            let mut part = || loop {
                let bytes = number(rng, before, after);
                // libhdf5 gives up on the other part if one is infinite or not a number.
                if !(finite && is_special(before, &bytes)) {
                    return bytes;
                }
            };
            [part(), part()].concat()
        }
        (Class::Complex(base), _) if !matches!(to.class(), Class::Array(_) | Class::Compound(_)) => {
            [number(rng, base, to), number(rng, base, base)].concat()
        }
        (_, Class::Complex(base)) if matches!(from.class(), Class::Fixed(_) | Class::Float(_)) => {
            number(rng, from, base)
        }
        (Class::Fixed(_) | Class::Float(_), _) => number(rng, from, to),
        (Class::Enum(names), _) if rng.one_in(2) => {
            let at = rng.range(0, names.members().len() as u32 - 1) as usize;
            names.members().nth(at).unwrap().1.to_vec()
        }
        (Class::String(..), _) => (0..from.size()).map(|_| rng.pick(b"ab  \0")).collect(),
        _ => rng.bytes(from.size()),
    }
}

fn number(rng: &mut Rng, from: &Datatype, to: &Datatype) -> Vec<u8> {
    loop {
        let bytes = match from.class() {
            Class::Float(float) => float_value(rng, float, from.size()),
            _ => integer_value(rng, from.size()),
        };
        if is_defined(from, to, &bytes) {
            return bytes;
        }
    }
}

fn integer_value(rng: &mut Rng, size: usize) -> Vec<u8> {
    match rng.range(0, 5) {
        0 => small(rng, size),
        1 => vec![rng.pick(&[0, 0xff]); size],
        2 => {
            let mut bytes = vec![rng.pick(&[0, 0xff]); size];
            let at = rng.pick(&[0, size - 1]);
            bytes[at] = rng.pick(&[0x7f, 0x80, 1, 0xfe, 0]);
            bytes
        }
        3 => {
            // Few bits: ties of rounding.
            let mut bytes = vec![0; size];
            for _ in 0..3 {
                let at = rng.range(0, size as u32 - 1) as usize;
                bytes[at] |= 1 << rng.range(0, 7);
            }
            bytes
        }
        _ => rng.bytes(size),
    }
}

fn set(bytes: &mut [u8], at: u8, size: u8, mut bit: impl FnMut(u32) -> bool) {
    for index in 0..u32::from(size) {
        let place = usize::from(at) + index as usize;
        let mask = 1 << (place % 8);
        bytes[place / 8] = bytes[place / 8] & !mask | if bit(index) { mask } else { 0 };
    }
}

fn float_value(rng: &mut Rng, float: &Float, size: usize) -> Vec<u8> {
    let mut bytes = rng.bytes(size);
    let top = (1u128 << float.exponent.size) - 1;
    let exponent = match rng.range(0, 9) {
        0 => 0,
        1 => 1,
        2 => top,
        3 => top - 1,
        4..8 => u128::from(float.bias).saturating_add(u128::from(rng.range(0, 80))).saturating_sub(8).min(top),
        _ => u128::from(rng.next()) % (top + 1),
    };
    set(&mut bytes, float.exponent.at, float.exponent.size, |bit| exponent >> bit & 1 == 1);
    let last = u32::from(float.mantissa.size) - 1;
    let (kind, at) = (rng.range(0, 6), rng.range(0, last));
    match kind {
        0 => set(&mut bytes, float.mantissa.at, float.mantissa.size, |_| false),
        1 => set(&mut bytes, float.mantissa.at, float.mantissa.size, |_| true),
        2 => set(&mut bytes, float.mantissa.at, float.mantissa.size, |bit| bit == at),
        3 => set(&mut bytes, float.mantissa.at, float.mantissa.size, |bit| bit >= at),
        _ => {}
    }
    if *float == Float::X87 {
        // The processor knows only numbers whose leading one is where it should be.
        set(&mut bytes, 63, 1, |_| exponent != 0);
    }
    float.bits.order.flip(&mut bytes);
    bytes
}

/// Whether both are numbers that C converts by itself, here.
fn is_c(datatype: &Datatype) -> bool {
    match datatype.class() {
        Class::Float(float) => {
            [(4, Float::F32), (8, Float::F64), (16, Float::X87)].contains(&(datatype.size(), *float))
        }
        _ => false,
    }
}

fn is_special(datatype: &Datatype, bytes: &[u8]) -> bool {
    let Class::Float(float) = datatype.class() else { return false };
    let mut bytes = bytes.to_vec();
    float.bits.order.flip(&mut bytes);
    (0..u32::from(float.exponent.size)).all(|bit| {
        let place = usize::from(float.exponent.at) + bit as usize;
        bytes[place / 8] >> (place % 8) & 1 == 1
    })
}

/// C leaves open what becomes of a floating-point number that an integer cannot hold. libhdf5 catches most such numbers beforehand;
/// this is about those it does not.
fn is_defined(from: &Datatype, to: &Datatype, bytes: &[u8]) -> bool {
    let (Class::Float(float), Class::Fixed(fixed)) = (from.class(), to.class()) else { return true };
    let half = from.size() == 2 && *float == Float::F16;
    let plain = fixed.bits == hyperslab_dtype::Bits::full(to.size() as u16, Order::Little);
    let native = (half || is_c(from)) && plain && [1, 2, 4, 8].contains(&to.size());
    if !native {
        return true;
    }
    // An exact power of two that is one more than the largest integer.
    let mantissa_zero = (0..float.mantissa.size).all(|bit| {
        let place = usize::from(float.mantissa.at + bit);
        bytes[place / 8] >> (place % 8) & 1 == 0
            || float.normalization == Normalization::None && bit == float.mantissa.size - 1
    });
    let exponent = (0..u32::from(float.exponent.size)).fold(0i64, |sum, bit| {
        let place = usize::from(float.exponent.at) + bit as usize;
        sum | i64::from(bytes[place / 8] >> (place % 8) & 1) << bit
    }) - i64::from(float.bias);
    let limit = i64::from(fixed.bits.precision) - i64::from(fixed.signed);
    let negative = bytes[usize::from(float.sign) / 8] >> (float.sign % 8) & 1 == 1;
    let not_a_number = is_special(from, bytes) && !mantissa_zero;
    // From half precision to 32 and more bits, and to unsigned 16, nothing is caught.
    let unchecked = half && (to.size() > 2 || to.size() == 2 && !fixed.signed);
    !(not_a_number
        || mantissa_zero && exponent == limit
        || unchecked && (is_special(from, bytes) || negative && !fixed.signed))
}

/// Bytes of a result that mean something: all but the unused ones of an x87 number.
pub fn mask(to: &Datatype) -> Vec<bool> {
    match to.class() {
        Class::Float(float) if to.size() == 16 && float.same_bits(&Float::X87) => {
            let unused = if float.bits.order == Order::Big { 0..6 } else { 10..16 };
            (0..16).map(|at| !unused.contains(&at)).collect()
        }
        Class::Compound(compound) => {
            let mut whole = vec![true; to.size()];
            for member in compound.members() {
                whole[member.offset as usize..][..member.datatype.size()].copy_from_slice(&mask(&member.datatype));
            }
            whole
        }
        Class::Array(array) => mask(array.base()).repeat(array.elements()),
        Class::Complex(base) => mask(base).repeat(2),
        _ => vec![true; to.size()],
    }
}

trait SameBits {
    fn same_bits(&self, other: &Float) -> bool;
}

impl SameBits for Float {
    fn same_bits(&self, other: &Float) -> bool {
        self.in_order(Order::Little) == *other
    }
}
