//! From bytes to values: a walk along the datatype.

use std::cell::Cell;

use hyperslab_base::Reader;
use hyperslab_dtype::{Arena, Bits, Class, Datatype, Enum, Fixed, Float, NoHeap, Order, Plan};

use super::Value;
use hyperslab_session::{Session, room};

use crate::{Heap, Result};

/// Values, made one by one of bytes that were read together.
///
/// Each is made when it is asked for, so that many of them take little more memory than their bytes.
pub struct Values<'a> {
    heap: Heap<'a>,
    datatype: Datatype,
    bytes: Vec<u8>,
    arena: Arena,
    next: usize,
}

/// A value may have this many parts. Each takes 32 bytes, however small it is in the file.
const MOST_PARTS: usize = 1 << 24;

/// The widest integer that has a form of its own.
const WIDEST: usize = 16;

impl<'a> Values<'a> {
    /// Values that were converted to a type in memory: their bytes, and what is of variable length.
    pub fn converted(session: &'a Session, datatype: Datatype, bytes: Vec<u8>, arena: Arena) -> Values<'a> {
        Values { heap: session.heap(), datatype, bytes, arena, next: 0 }
    }

    /// Values as they are stored.
    pub fn stored(session: &'a Session, stored: &Datatype, bytes: &[u8]) -> Result<Values<'a>> {
        let datatype = stored.in_memory()?;
        let count = bytes.len() / stored.size();
        let (mut made, mut arena) = (room(count as u64, datatype.size())?, Arena::default());
        Plan::new(stored, &datatype)?.convert(count, bytes, &mut made, &session.heap(), &mut arena)?;
        Ok(Values::converted(session, datatype, made, arena))
    }
}

impl Iterator for Values<'_> {
    type Item = Result<Value>;

    fn next(&mut self) -> Option<Result<Value>> {
        let size = self.datatype.size();
        let bytes = self.bytes.get(self.next..self.next.checked_add(size)?)?;
        self.next += size;
        let walk = Walk { heap: &self.heap, arena: &self.arena, parts: Cell::new(0) };
        Some(walk.value(&self.datatype, bytes))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.bytes.len() - self.next) / self.datatype.size();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// The walk through one value. Datatypes nest no deeper than [`hyperslab_dtype::MAX_DEPTH`], so this ends.
struct Walk<'a> {
    heap: &'a Heap<'a>,
    arena: &'a Arena,
    /// How many parts were made so far.
    parts: Cell<usize>,
}

impl Walk<'_> {
    fn value(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
        Ok(match datatype.class() {
            Class::Fixed(fixed) => integer(fixed, bytes),
            Class::Bitfield(bits) => bit_field(*bits, bytes),
            Class::Float(float) => number(datatype, float, bytes),
            Class::Time(_) | Class::Opaque(_) => Value::Bytes(bytes.to_vec()),
            Class::String(padding, _) => Value::Text(padding.strip(bytes).to_vec()),
            Class::Enum(names) => enumerated(names, bytes),
            Class::Complex(base) => {
                let (real, imaginary) = bytes.split_at_checked(base.size()).unwrap_or((bytes, &[]));
                Value::Complex(Box::new([self.value(base, real)?, self.value(base, imaginary)?]))
            }
            Class::Compound(compound) => {
                let members = compound.members().iter().map(|member| {
                    let part = bytes.get(member.offset as usize..).and_then(|rest| rest.get(..member.datatype.size()));
                    Ok((member.name.clone(), self.value(&member.datatype, part.unwrap_or_default())?))
                });
                self.count(compound.members().len(), bytes)?;
                Value::Compound(members.collect::<Result<_>>()?)
            }
            Class::Array(array) => self.array(array.base(), array.dims(), bytes)?,
            Class::Vlen(vlen) => {
                let elements = self.arena.get(bytes, vlen.base.size())?.unwrap_or_default();
                match vlen.text {
                    // What follows a NUL is not part of the string.
                    Some(_) => Value::Text(elements.split(|&byte| byte == 0).next().unwrap_or_default().to_vec()),
                    None => Value::Sequence(self.all(&vlen.base, elements)?),
                }
            }
            Class::Reference(_) => match self.heap.dereference_in(self.arena, datatype, bytes) {
                Ok(None) => Value::Null,
                Ok(Some(referent)) => Value::Reference(Box::new(referent)),
                Err(why) => Value::Dangling { bytes: bytes.to_vec(), why: why.to_string() },
            },
        })
    }

    fn array(&self, base: &Datatype, dims: &[u32], bytes: &[u8]) -> Result<Value> {
        let Some((&first, rest)) = dims.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Ok(Value::Array(self.all(base, bytes)?));
        };
        let row = bytes.len() / (first as usize).max(1);
        let rows = bytes.chunks_exact(row.max(1)).map(|row| self.array(base, rest, row));
        self.count(first as usize, bytes)?;
        Ok(Value::Array(rows.collect::<Result<_>>()?))
    }

    fn all(&self, base: &Datatype, bytes: &[u8]) -> Result<Vec<Value>> {
        self.count(bytes.len() / base.size(), bytes)?;
        bytes.chunks_exact(base.size()).map(|value| self.value(base, value)).collect()
    }

    fn count(&self, parts: usize, bytes: &[u8]) -> Result<()> {
        let parts = self.parts.get().saturating_add(parts);
        self.parts.set(parts);
        if parts > MOST_PARTS {
            let why = format!("more than {MOST_PARTS} parts; read it as bytes instead");
            return Err(Reader::new("value", bytes).refuse(why).into());
        }
        Ok(())
    }
}

/// An integer in little-endian order, extended to 16 bytes; nothing if it has more.
fn extended(fixed: &Fixed, bytes: &[u8]) -> Option<[u8; WIDEST]> {
    let mut wide = [0; WIDEST];
    let (low, high) = wide.split_at_mut_checked(bytes.len())?;
    low.copy_from_slice(bytes);
    if fixed.bits.offset == 0 && usize::from(fixed.bits.precision) == 8 * bytes.len() {
        fixed.bits.order.flip(low);
    } else {
        fixed.spread(low);
    }
    if fixed.signed && low.last().is_some_and(|byte| byte & 0x80 != 0) {
        high.fill(0xff);
    }
    Some(wide)
}

fn integer(fixed: &Fixed, bytes: &[u8]) -> Value {
    match extended(fixed, bytes) {
        Some(wide) if fixed.signed => Value::Signed(i128::from_le_bytes(wide)),
        Some(wide) => Value::Unsigned(u128::from_le_bytes(wide)),
        None => Value::Bytes(bytes.to_vec()),
    }
}

fn bit_field(bits: Bits, bytes: &[u8]) -> Value {
    match extended(&Fixed { bits, signed: false }, bytes) {
        Some(wide) => Value::Bits { bits: u128::from_le_bytes(wide), width: bits.precision },
        None => Value::Bytes(bytes.to_vec()),
    }
}

fn number(datatype: &Datatype, float: &Float, bytes: &[u8]) -> Value {
    let order = float.bits.order;
    if *float == Float::F64.in_order(order)
        && let Some(double) = ordered(order, bytes)
    {
        return Value::F64(f64::from_le_bytes(double));
    }
    if *float == Float::F32.in_order(order)
        && let Some(single) = ordered(order, bytes)
    {
        return Value::F32(f32::from_le_bytes(single));
    }
    let small = [Float::F16, Float::BF16, Float::F8E4M3, Float::F8E5M2];
    if small.iter().any(|small| *float == small.in_order(order))
        && let Some(single) = converted(datatype, &Datatype::of::<f32>(), bytes)
    {
        return Value::F32(f32::from_ne_bytes(single));
    }
    let fits = float.mantissa.size <= 52 && float.exponent.size <= 11;
    match converted(datatype, &Datatype::of::<f64>(), bytes).map(f64::from_ne_bytes) {
        Some(double) if fits => Value::F64(double),
        Some(near) => Value::Extended { near, bytes: bytes.to_vec() },
        None => Value::Bytes(bytes.to_vec()),
    }
}

/// The bytes of a number in little-endian order.
fn ordered<const N: usize>(order: Order, bytes: &[u8]) -> Option<[u8; N]> {
    let mut number: [u8; N] = bytes.try_into().ok()?;
    order.flip(&mut number);
    Some(number)
}

fn converted<const N: usize>(from: &Datatype, to: &Datatype, bytes: &[u8]) -> Option<[u8; N]> {
    let mut number = [0; N];
    Plan::new(from, to).ok()?.convert(1, bytes, &mut number, &NoHeap, &mut NoHeap).ok()?;
    Some(number)
}

fn enumerated(names: &Enum, bytes: &[u8]) -> Value {
    if let (&[byte @ 0..=1], true) = (bytes, is_boolean(names)) {
        return Value::Bool(byte == 1);
    }
    let name = names.members().find(|(_, value)| *value == bytes).map(|(name, _)| name.clone());
    let value = match names.base().class() {
        Class::Fixed(fixed) => integer(fixed, bytes),
        _ => Value::Bytes(bytes.to_vec()),
    };
    Value::Enum { name, value: Box::new(value) }
}

fn is_boolean(names: &Enum) -> bool {
    let truths: [(&[u8], &[u8]); 2] = [(b"FALSE", &[0]), (b"TRUE", &[1])];
    names.members().len() == 2 && names.members().map(|(name, value)| (name.as_bytes(), value)).eq(truths)
}
