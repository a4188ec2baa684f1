//! The datatype itself: a size and a class.

use crate::{Bits, Charset, Compound, Enum, Error, Fixed, Float, Name, Order, Padding, Result};

/// How deep datatypes may nest. libhdf5 has no limit; its users stay far below.
pub const MAX_DEPTH: u8 = 64;

/// The most dimensions an array datatype may have.
pub const MAX_RANK: usize = 32;

/// What a value is and how its bytes are laid out. Every value of this type is one that the format can hold.
///
/// Two datatypes are equal if `H5Tequal` says so: the order of compound and enumeration members does not count, nor do
/// the padding and characters of variable-length strings.
///
/// ```
/// use hyperslab_dtype::Datatype;
/// let point = Datatype::compound([("x", Datatype::of::<f32>()), ("y", Datatype::of::<[i16; 3]>())])?;
/// assert_eq!(point.size(), 10);
/// assert_eq!(point.to_string(), "compound {x: f32, y: i16[3]}");
/// # Ok::<(), hyperslab_dtype::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Datatype {
    pub(crate) size: u32,
    pub(crate) depth: u8,
    pub(crate) class: Class,
}

/// The classes of the format.
#[derive(Clone, Debug)]
pub enum Class {
    /// An integer.
    Fixed(Fixed),
    /// A floating-point number.
    Float(Float),
    /// A time; no library reads or writes it as more than bits.
    Time(Time),
    /// A string of fixed length.
    String(Padding, Charset),
    /// Bits without a value as a whole.
    Bitfield(Bits),
    /// Bytes with a tag that says what they are.
    Opaque(Vec<u8>),
    /// Named members at offsets.
    Compound(Compound),
    /// A reference to something in a file.
    Reference(Reference),
    /// Named values of an integer.
    Enum(Enum),
    /// Any number of values, kept in a heap.
    Vlen(Vlen),
    /// A box of values.
    Array(Array),
    /// Real and imaginary part; the base is a floating-point number.
    Complex(Box<Datatype>),
}

/// A time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    /// The order of the bytes.
    pub order: Order,
    /// How many bits are significant.
    pub precision: u16,
}

/// What a reference points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// An object, by its address.
    Object,
    /// A region of a dataset, through the global heap.
    Region,
    /// The revised form of libhdf5 1.12: an object, a region or an attribute, whatever the values say.
    Revised(Revised),
}

/// The kinds that the revised reference is declared with. libhdf5 writes `Object` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Revised {
    /// An object.
    Object,
    /// A region of a dataset.
    Region,
    /// An attribute.
    Attribute,
}

/// A variable-length value: a sequence or a string.
#[derive(Clone, Debug)]
pub struct Vlen {
    /// What the elements are; bytes for a string.
    pub base: Box<Datatype>,
    /// Padding and characters, if it is a string.
    pub text: Option<(Padding, Charset)>,
}

/// A box of values, the last dimension fastest.
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) base: Box<Datatype>,
    pub(crate) dims: Vec<u32>,
}

impl Array {
    /// What the elements are.
    pub fn base(&self) -> &Datatype {
        &self.base
    }

    /// The size of each dimension.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }
}

impl Datatype {
    /// The last step of every constructor: limits that hold for all classes.
    pub(crate) fn checked(size: u32, class: Class) -> Result<Datatype> {
        if size == 0 {
            return Err(Error::invalid(class.name(), "it has no bytes"));
        }
        let depth = class.parts().map(|part| part.depth + 1).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(Error::invalid(class.name(), format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        Ok(Datatype { size, depth, class })
    }

    /// For classes without parts and a size that is known not to be zero.
    pub(crate) const fn atom(size: u32, class: Class) -> Datatype {
        Datatype { size, depth: 0, class }
    }

    /// How many bytes one value takes.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The class, with what belongs to it.
    pub fn class(&self) -> &Class {
        &self.class
    }

    /// Whether the datatype, or any part of it, satisfies `test`.
    pub fn any(&self, test: &mut dyn FnMut(&Datatype) -> bool) -> bool {
        test(self) || self.class.parts().any(|part| part.any(test))
    }

    /// Whether values hold references to a heap.
    pub fn has_vlen(&self) -> bool {
        self.any(&mut |part| matches!(part.class, Class::Vlen(_)))
    }

    /// Whether values point at something in a file.
    pub fn has_reference(&self) -> bool {
        self.any(&mut |part| matches!(part.class, Class::Reference(_)))
    }

    /// Whether a number in it uses so few of its bits that libhdf5 takes it for damage if the object header has no checksum.
    pub fn is_suspicious(&self) -> bool {
        self.any(&mut |part| match &part.class {
            Class::Fixed(Fixed { bits, .. }) | Class::Float(Float { bits, .. }) | Class::Bitfield(bits) => {
                bits.is_suspicious(part.size)
            }
            _ => false,
        })
    }

    /// The member of a compound with this name.
    pub fn member(&self, name: impl AsRef<[u8]>) -> Option<&crate::Member> {
        match &self.class {
            Class::Compound(compound) => {
                compound.members().iter().find(|member| member.name.as_bytes() == name.as_ref())
            }
            _ => None,
        }
    }

    /// The type of the elements: of an array, a sequence, an enumeration or a complex number.
    pub fn base(&self) -> Option<&Datatype> {
        match &self.class {
            Class::Compound(_) => None,
            class => class.parts().next(),
        }
    }
}

impl Class {
    /// The word for this class.
    pub fn name(&self) -> &'static str {
        match self {
            Class::Fixed(_) => "integer",
            Class::Float(_) => "floating-point",
            Class::Time(_) => "time",
            Class::String(..) => "string",
            Class::Bitfield(_) => "bitfield",
            Class::Opaque(_) => "opaque",
            Class::Compound(_) => "compound",
            Class::Reference(_) => "reference",
            Class::Enum(_) => "enumeration",
            Class::Vlen(_) => "variable-length",
            Class::Array(_) => "array",
            Class::Complex(_) => "complex",
        }
    }

    /// Whether it is one of references that say more than an address: a file keeps that in its heap, or in a structured chunk.
    pub(crate) fn is_indirect(&self) -> bool {
        matches!(self, Class::Reference(Reference::Region | Reference::Revised(_)))
    }

    /// The datatypes this one is made of.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Datatype> {
        let (base, members) = match self {
            Class::Enum(enumeration) => (Some(enumeration.base()), &[][..]),
            Class::Vlen(vlen) => (Some(&*vlen.base), &[][..]),
            Class::Array(array) => (Some(&*array.base), &[][..]),
            Class::Complex(base) => (Some(&**base), &[][..]),
            Class::Compound(compound) => (None, compound.members()),
            _ => (None, &[][..]),
        };
        base.into_iter().chain(members.iter().map(|member| &member.datatype))
    }
}

/// Names that occur twice, found without comparing all pairs.
pub(crate) fn repeated<'a>(names: impl Iterator<Item = &'a Name>) -> Option<&'a Name> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|&name| !seen.insert(name))
}
