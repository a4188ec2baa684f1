//! What filters are told of the chunks of a dataset when their parameters are completed: plain numbers, so that this crate needs no datatypes.

use crate::Fault;

/// The chunks of a new dataset, as a filter may need to know them.
#[derive(Clone, Copy, Debug)]
pub struct ChunkFacts<'a> {
    /// The extent of a chunk.
    pub dims: &'a [u64],
    /// The type of its elements.
    pub element: &'a ElementType,
    /// The fill value as the file has it, if there is one.
    pub fill: Option<&'a [u8]>,
}

/// The type of an element, as far as filters look into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// A number.
    Number(NumberType),
    /// An array of items of one type.
    Array {
        /// Its bytes.
        size: u32,
        /// The type of an item.
        base: Box<ElementType>,
    },
    /// A compound.
    Compound {
        /// Its bytes.
        size: u32,
        /// The offset and type of each member.
        members: Vec<(u32, ElementType)>,
    },
    /// Any other type.
    Opaque {
        /// Its bytes.
        size: u32,
    },
}

/// A number, by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberType {
    /// What kind of number.
    pub kind: NumberKind,
    /// Its bytes.
    pub size: u32,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
    /// How many bits are used.
    pub precision: u32,
    /// Where they start, from the lowest bit.
    pub offset: u32,
}

/// The kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// An integer without sign.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A floating-point number.
    Float,
    /// A bit field or an enumeration.
    Bits,
}

impl ElementType {
    /// The bytes of an element.
    pub fn size(&self) -> u32 {
        let (ElementType::Number(NumberType { size, .. })
        | ElementType::Array { size, .. }
        | ElementType::Compound { size, .. }
        | ElementType::Opaque { size }) = self;
        *size
    }

    /// The bytes of what repeats in an element: of an array its items.
    pub(crate) fn part_size(&self) -> u32 {
        match self {
            ElementType::Array { base, .. } => base.size(),
            _ => self.size(),
        }
    }

    /// The number, for filters that take nothing else.
    pub(crate) fn number(&self) -> Result<NumberType, Fault> {
        match self {
            ElementType::Number(number) => Ok(*number),
            _ => Err(Fault::Params("the type is no number")),
        }
    }
}

impl ChunkFacts<'_> {
    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> Result<u32, Fault> {
        let elements = self.dims.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim));
        elements.and_then(|elements| u32::try_from(elements).ok()).ok_or(LARGE)
    }

    /// The bytes of a chunk.
    pub(crate) fn bytes(&self) -> Result<u32, Fault> {
        self.elements()?.checked_mul(self.element.size()).ok_or(LARGE)
    }
}

const LARGE: Fault = Fault::Params("a chunk with more than 2^32 elements or bytes");
