//! The type of an element as n-bit knows it, and the parameters that tell it.
//!
//! After three numbers (how many parameters, whether to leave the data alone, how many elements) comes a type: a class and a
//! size, then by class: 1 number: order, precision, offset; 2 array: the type of an item; 3 compound: how many members,
//! then for each its place and its type; 4 anything else: nothing.

use crate::{ElementType, Fault, NumberKind, NumberType};

const NUMBER: u32 = 1;
const ARRAY: u32 = 2;
const COMPOUND: u32 = 3;
const OPAQUE: u32 = 4;

/// No real type nests deeper; a hostile one would eat the stack.
const MAX_DEPTH: usize = 32;

/// What n-bit has to know of a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbitType {
    /// An integer or a floating-point number.
    Number {
        /// Its bytes.
        size: u32,
        /// Whether the highest byte comes first.
        big_endian: bool,
        /// How many bits are used.
        precision: u32,
        /// Where they start, from the lowest bit.
        offset: u32,
    },
    /// An array of items of one type.
    Array {
        /// Its bytes.
        size: u32,
        /// The type of an item.
        base: Box<NbitType>,
    },
    /// A compound.
    Compound {
        /// Its bytes.
        size: u32,
        /// The place and type of each member.
        members: Vec<(u32, NbitType)>,
    },
    /// Any other type; it is stored as it is.
    Opaque {
        /// Its bytes.
        size: u32,
    },
}

impl From<&ElementType> for NbitType {
    fn from(element: &ElementType) -> NbitType {
        match element {
            ElementType::Number(NumberType { kind: NumberKind::Bits, size, .. }) => NbitType::Opaque { size: *size },
            &ElementType::Number(NumberType { size, big_endian, precision, offset, .. }) => {
                NbitType::Number { size, big_endian, precision, offset }
            }
            ElementType::Array { size, base } => {
                NbitType::Array { size: *size, base: Box::new(NbitType::from(&**base)) }
            }
            ElementType::Compound { size, members } => {
                let member = |(offset, member): &(u32, ElementType)| (*offset, NbitType::from(member));
                NbitType::Compound { size: *size, members: members.iter().map(member).collect() }
            }
            ElementType::Opaque { size } => NbitType::Opaque { size: *size },
        }
    }
}

impl NbitType {
    /// The bytes of an element.
    pub fn size(&self) -> usize {
        let (NbitType::Number { size, .. }
        | NbitType::Array { size, .. }
        | NbitType::Compound { size, .. }
        | NbitType::Opaque { size }) = self;
        *size as usize
    }

    /// Whether there are no bits to save.
    fn is_full(&self) -> bool {
        match self {
            NbitType::Number { size, precision, .. } => *precision == size * 8,
            NbitType::Array { base, .. } => base.is_full(),
            NbitType::Compound { members, .. } => members.iter().all(|(_, member)| member.is_full()),
            NbitType::Opaque { .. } => true,
        }
    }

    /// The bits of a packed element.
    fn packed_bits(&self) -> u64 {
        match self {
            NbitType::Number { precision, .. } => u64::from(*precision),
            NbitType::Array { size, base } => {
                (u64::from(*size) / base.size().max(1) as u64).saturating_mul(base.packed_bits())
            }
            NbitType::Compound { members, .. } => {
                members.iter().fold(0, |bits: u64, (_, member)| bits.saturating_add(member.packed_bits()))
            }
            NbitType::Opaque { size } => u64::from(*size) * 8,
        }
    }

    fn write(&self, params: &mut Vec<u32>) {
        match self {
            NbitType::Number { size, big_endian, precision, offset } => {
                params.extend([NUMBER, *size, u32::from(*big_endian), *precision, *offset]);
            }
            NbitType::Array { size, base } => {
                params.extend([ARRAY, *size]);
                base.write(params);
            }
            NbitType::Compound { size, members } => {
                params.extend([COMPOUND, *size, members.len() as u32]);
                for (offset, member) in members {
                    params.push(*offset);
                    member.write(params);
                }
            }
            NbitType::Opaque { size } => params.extend([OPAQUE, *size]),
        }
    }
}

/// What the parameters tell of a chunk that is packed.
pub(super) struct Layout {
    pub(super) elements: usize,
    pub(super) of: NbitType,
}

impl Layout {
    /// Whether so many bytes have the bits of all elements.
    pub(super) fn fits(&self, len: u64) -> bool {
        (self.elements as u64).saturating_mul(self.of.packed_bits()) <= len.saturating_mul(8)
    }
}

pub(super) fn to_params(elements: u32, of: &NbitType) -> Result<Vec<u32>, Fault> {
    let mut described = Vec::new();
    if !matches!(of, NbitType::Opaque { .. }) {
        of.write(&mut described);
    }
    let mut params = vec![3 + described.len() as u32, u32::from(of.is_full()), elements];
    params.append(&mut described);
    // A type that a program built gets the same checks as one of a file.
    from_params(&params)?;
    Ok(params)
}

/// `None` if the data is stored as it is.
pub(super) fn from_params(params: &[u32]) -> Result<Option<Layout>, Fault> {
    let mut fields = Fields { rest: params };
    let (count, full, elements) = (fields.next()?, fields.next()?, fields.next()?);
    if count as usize != params.len() {
        return Err(Fault::Params("their number is not what the first of them says"));
    }
    if full != 0 {
        return Ok(None);
    }
    let of = fields.read_type(MAX_DEPTH)?;
    Ok(Some(Layout { elements: elements as usize, of }))
}

struct Fields<'a> {
    rest: &'a [u32],
}

impl Fields<'_> {
    fn next(&mut self) -> Result<u32, Fault> {
        let (first, rest) = self.rest.split_first().ok_or(Fault::Params("they end within a type"))?;
        self.rest = rest;
        Ok(*first)
    }

    fn read_type(&mut self, depth: usize) -> Result<NbitType, Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::Params("the type is nested too deeply"))?;
        let (class, size) = (self.next()?, self.next()?);
        if size == 0 {
            return Err(Fault::Params("a type without bytes"));
        }
        match class {
            NUMBER => {
                let (order, precision, offset) = (self.next()?, self.next()?, self.next()?);
                let used = u64::from(precision) + u64::from(offset);
                if precision == 0 || used > u64::from(size) * 8 || used > u64::from(u32::MAX / 2) {
                    return Err(Fault::Params("the used bits are not inside the number"));
                }
                Ok(NbitType::Number { size, big_endian: order != 0, precision, offset })
            }
            ARRAY => {
                let base = self.read_type(depth)?;
                if base.size() > size as usize {
                    return Err(Fault::Params("an item is larger than its array"));
                }
                Ok(NbitType::Array { size, base: Box::new(base) })
            }
            COMPOUND => self.read_compound(size, depth),
            OPAQUE => Ok(NbitType::Opaque { size }),
            _ => Err(Fault::Params("a type of an unknown class")),
        }
    }

    fn read_compound(&mut self, size: u32, depth: usize) -> Result<NbitType, Fault> {
        let mut members = Vec::new();
        let mut together = 0;
        for _ in 0..self.next()? {
            let offset = self.next()?;
            let member = self.read_type(depth)?;
            together += member.size() as u64;
            if u64::from(offset) + member.size() as u64 > u64::from(size) || together > u64::from(size) {
                return Err(Fault::Params("the members are larger than their compound"));
            }
            members.push((offset, member));
        }
        Ok(NbitType::Compound { size, members })
    }
}
