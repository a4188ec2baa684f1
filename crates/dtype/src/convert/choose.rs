//! Which way a pair of datatypes is converted: the conversions libhdf5 registers, and the order it tries them in.

use super::enumeration::Names;
use super::hard::Kernel;
use super::number::{Kind, MAX_SIZE, Number};
use super::plan::{Members, Op, Plan};
use super::soft::Soft;
use crate::datatype::{Class, Datatype, Reference};
use crate::equal::same;
use crate::{Error, Normalization, Order, Result};

/// The widest exponent that fits the arithmetic.
const MAX_EXPONENT: u8 = 63;

impl Plan {
    /// The plan that libhdf5's conversion between these two is; an error if it has none.
    pub fn new(from: &Datatype, to: &Datatype) -> Result<Plan> {
        Ok(Plan { from: from.size(), to: to.size(), op: op(from, to)? })
    }
}

fn op(from: &Datatype, to: &Datatype) -> Result<Op> {
    let is_copied = matches!(from.class(), Class::Reference(_)) && from.encoded_reference().is_none();
    if is_untouched(from, to) || is_copied && from == to {
        return Ok(Op::Copy);
    }
    let refuse = |why: &str| Error::NoConversion { from: from.to_string(), to: to.to_string(), why: why.into() };
    match (from.class(), to.class()) {
        (Class::Fixed(_) | Class::Float(_), Class::Fixed(_) | Class::Float(_)) => scalar(from, to),
        (Class::Enum(names), Class::Fixed(_) | Class::Float(_)) => op(names.base(), to),
        (Class::Enum(names), Class::Enum(others)) => match Names::new(names, others) {
            Ok(names) => Ok(Op::Names(names)),
            Err(why) => Err(refuse(&why)),
        },
        (Class::Complex(base), Class::Complex(to)) => parts(base, to),
        (Class::Complex(base), Class::Fixed(_) | Class::Float(_)) => {
            let plan = Plan { from: base.size(), to: to.size(), op: real(base, to, base)? };
            Ok(Op::Start(Box::new(plan)))
        }
        (Class::Fixed(_) | Class::Float(_), Class::Complex(base)) => {
            let plan = Plan { from: from.size(), to: base.size(), op: real(from, base, base)? };
            Ok(Op::Padded(Box::new(plan)))
        }
        (Class::Complex(base), _) if is_pair(to, base) => Ok(Op::Copy),
        (_, Class::Complex(base)) if is_pair(from, base) => Ok(Op::Copy),
        (Class::String(before, set), Class::String(after, other)) if set == other => Ok(Op::String(*before, *after)),
        (Class::String(..), Class::String(..)) => Err(refuse("the character sets differ")),
        (Class::Bitfield(before), Class::Bitfield(after)) => {
            fits(from.size().max(to.size())).ok_or_else(|| refuse(TOO_LARGE))?;
            Ok(Op::Soft(Soft::bits((from.size(), *before), (to.size(), *after))))
        }
        (Class::Compound(before), Class::Compound(after)) => {
            let members = Members::new(before, after)?;
            let whole = from.size() == to.size() && members.copies(from.size());
            Ok(if whole { Op::Copy } else { Op::Members(members) })
        }
        (Class::Array(before), Class::Array(after)) if before.dims() == after.dims() => {
            let plan = Plan::new(before.base(), after.base())?;
            Ok(if plan.is_copy() { Op::Copy } else { Op::Repeat(before.elements(), Box::new(plan)) })
        }
        (Class::Array(_), Class::Array(_)) => Err(refuse("the dimensions differ")),
        (Class::Vlen(before), Class::Vlen(after)) => match (before.text, after.text) {
            (Some((_, set)), Some((_, other))) if set != other => Err(refuse("the character sets differ")),
            // Characters are bytes, whatever type a writer declared them with.
            (Some(_), Some(_)) if before.base.size() == 1 && after.base.size() == 1 => {
                Ok(Op::Sequence { elements: Box::new(Plan::copy(1)), is_text: true })
            }
            (text, _) => {
                let elements = Box::new(Plan::new(&before.base, &after.base)?);
                Ok(Op::Sequence { elements, is_text: text.is_some() })
            }
        },
        (Class::Reference(Reference::Object), Class::Reference(Reference::Object)) => Ok(Op::Address),
        (Class::Reference(kind), Class::Reference(other)) if is_same_kind(*kind, *other) => {
            match (from.encoded_reference(), to.encoded_reference()) {
                (Some(_), Some(_)) => Ok(Op::Sequence { elements: Box::new(Plan::copy(1)), is_text: false }),
                (None, Some(_)) => Ok(Op::Follow(*kind)),
                (Some(_), None) => Err(refuse("what the references say is not in the heap of the file")),
                (None, None) => Err(refuse("libhdf5 converts no such pair")),
            }
        }
        _ => Err(refuse("libhdf5 converts no such pair")),
    }
}

/// Whether references say the same in the same way.
fn is_same_kind(left: Reference, right: Reference) -> bool {
    match (left, right) {
        (Reference::Revised(_), Reference::Revised(_)) => true,
        (left, right) => left == right,
    }
}

/// Whether libhdf5 leaves values as they are, gaps included. It looks into everything that holds references.
pub(super) fn is_untouched(from: &Datatype, to: &Datatype) -> bool {
    !from.has_vlen() && !from.has_reference() && same(from, to, true)
}

const TOO_LARGE: &str = "numbers of over 64 bytes are not converted";

fn fits(size: usize) -> Option<()> {
    (size <= MAX_SIZE).then_some(())
}

fn scalar(from: &Datatype, to: &Datatype) -> Result<Op> {
    if let Some(op) = swap(from, to) {
        return Ok(op);
    }
    let (before, after) = numbers(from, to)?;
    Ok(Kernel::hard(before, after)
        .or_else(|| Kernel::swapped(before, after))
        .or_else(|| Kernel::widened(before, after))
        .map_or_else(|| Op::Soft(Soft::numbers(before, after)), Op::Hard))
}

/// Both parts of a complex number.
fn parts(from: &Datatype, to: &Datatype) -> Result<Op> {
    if let Some(op) = swap(from, to) {
        return Ok(op);
    }
    let (before, after) = numbers(from, to)?;
    no_vax(from, to)?;
    let hard = Kernel::hard(before, after).filter(|_| is_native_part(from) && is_native_part(to));
    let op = hard.map_or_else(|| Op::Soft(Soft::numbers(before, after)), Op::Hard);
    Ok(Op::Repeat(2, Box::new(Plan { from: from.size(), to: to.size(), op })))
}

/// Between a real number and the real part of a complex one, whose base is `part`. Byte order alone has no short way here.
fn real(from: &Datatype, to: &Datatype, part: &Datatype) -> Result<Op> {
    let (before, after) = numbers(from, to)?;
    no_vax(part, part)?;
    if from == to {
        return Ok(match before.kind {
            Kind::Float(float) if !is_native_part(part) => Op::Soft(Soft::same(before, float)),
            _ => Op::Copy,
        });
    }
    let hard = Kernel::hard(before, after).filter(|_| is_native_part(part));
    Ok(hard.map_or_else(|| Op::Soft(Soft::numbers(before, after)), Op::Hard))
}

/// Two numbers that the arithmetic can deal with.
fn numbers(from: &Datatype, to: &Datatype) -> Result<(Number, Number)> {
    let refuse = |why: &str| Error::NoConversion { from: from.to_string(), to: to.to_string(), why: why.into() };
    let (Some(before), Some(after)) = (Number::of(from), Number::of(to)) else {
        return Err(refuse("libhdf5 converts no such pair"));
    };
    fits(before.size.max(after.size)).ok_or_else(|| refuse(TOO_LARGE))?;
    for number in [before, after] {
        if let Kind::Float(float) = number.kind {
            if float.exponent.size > MAX_EXPONENT {
                return Err(refuse("the exponent is too wide"));
            }
            if float.normalization == Normalization::MsbSet {
                return Err(refuse("mantissas with a stored leading one are not converted"));
            }
        }
    }
    Ok((before, after))
}

/// Numbers of one size that differ in byte order: libhdf5 reverses the bytes and looks no further, whatever sign and precision say.
fn swap(from: &Datatype, to: &Datatype) -> Option<Op> {
    let (from, to) = (Number::of(from)?, Number::of(to)?);
    let (before, after) = (from.bits(), to.bits());
    let reversed = matches!((before.order, after.order), (Order::Big, Order::Little) | (Order::Little, Order::Big));
    let alike = match (from.kind, to.kind) {
        (Kind::Int(_), Kind::Int(_)) => true,
        (Kind::Float(from), Kind::Float(to)) => from.same_fields(&to),
        _ => false,
    };
    (reversed && alike && from.size == to.size && before.offset == 0 && after.offset == 0)
        .then_some(Op::Swap(from.size))
}

fn no_vax(from: &Datatype, to: &Datatype) -> Result<()> {
    let is_vax = |datatype: &Datatype| Number::of(datatype).is_some_and(|number| number.bits().order == Order::Vax);
    if is_vax(from) || is_vax(to) {
        let why = "complex numbers in VAX order are not converted".into();
        return Err(Error::NoConversion { from: from.to_string(), to: to.to_string(), why });
    }
    Ok(())
}

/// Whether C has complex numbers with such parts: `float`, `double`, `long double`.
fn is_native_part(part: &Datatype) -> bool {
    Number::of(part).is_some_and(Kernel::is_c_float)
}

/// Whether a datatype is what people used before there were complex numbers: two values in an array, or a compound of a
/// real and an imaginary part.
fn is_pair(datatype: &Datatype, base: &Datatype) -> bool {
    match datatype.class() {
        Class::Array(array) => array.elements() == 2 && array.base() == base,
        Class::Compound(compound) => {
            let members = compound.by_offset();
            let [real, imaginary] = members.as_slice() else { return false };
            datatype.size() == 2 * base.size()
                && [real, imaginary].iter().all(|part| part.datatype == *base)
                && b"real".starts_with(real.name.as_bytes())
                && b"imaginary".starts_with(imaginary.name.as_bytes())
        }
        _ => false,
    }
}
