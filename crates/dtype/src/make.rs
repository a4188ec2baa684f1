//! How datatypes are made. Compounds, enumerations and floating-point numbers are made in files of their own.

use crate::datatype::{Array, Class, Datatype, MAX_RANK, Reference, Time, Vlen};
use crate::{Bits, Charset, Error, Fixed, Order, Padding, Result};

/// The longest tag of an opaque datatype that every version of libhdf5 writes whole.
const MAX_TAG: usize = 248;

/// In a sequence of revised references, libhdf5 says how large one is in its memory; in the file it is smaller, as everywhere.
pub(crate) const REVISED_IN_MEMORY: u32 = 64;
pub(crate) const REVISED_IN_FILE: u32 = 18;

/// The stored form of a variable-length value where addresses have eight bytes: count, address, index.
const VLEN_SIZE: u32 = 16;

impl Datatype {
    /// An integer of `size` bytes that uses all its bits.
    pub fn integer(size: u32, signed: bool, order: Order) -> Result<Datatype> {
        let whole = u16::try_from(size).ok().filter(|&size| size < 8192);
        let size16 = whole.ok_or_else(|| Error::invalid("integer", format!("{size} bytes are too many")))?;
        Datatype::fixed(size, Fixed { bits: Bits::full(size16, order), signed })
    }

    /// An integer of `size` bytes with any precision, offset and padding.
    pub fn fixed(size: u32, fixed: Fixed) -> Result<Datatype> {
        fixed.bits.check("integer", size)?;
        no_vax("integer", fixed.bits.order)?;
        Datatype::checked(size, Class::Fixed(fixed))
    }

    /// A bit field of `size` bytes.
    pub fn bitfield(size: u32, bits: Bits) -> Result<Datatype> {
        bits.check("bitfield", size)?;
        no_vax("bitfield", bits.order)?;
        Datatype::checked(size, Class::Bitfield(bits))
    }

    /// A time of `size` bytes.
    pub fn time(size: u32, order: Order, precision: u16) -> Result<Datatype> {
        no_vax("time", order)?;
        Datatype::checked(size, Class::Time(Time { order, precision }))
    }

    /// A string of `size` bytes, padding included.
    pub fn string(size: u32, padding: Padding, charset: Charset) -> Result<Datatype> {
        Datatype::checked(size, Class::String(padding, charset))
    }

    /// A variable-length string, as a file with eight-byte addresses has it.
    pub fn var_string(charset: Charset) -> Datatype {
        let byte = Fixed { bits: Bits::full(1, Order::Little), signed: false };
        let base = Box::new(Datatype::atom(1, Class::Fixed(byte)));
        Datatype {
            size: VLEN_SIZE,
            depth: 1,
            class: Class::Vlen(Vlen { base, text: Some((Padding::NullTerm, charset)) }),
        }
    }

    /// A variable-length sequence, as a file with eight-byte addresses has it.
    pub fn vlen(base: Datatype) -> Result<Datatype> {
        Datatype::vlen_of_size(VLEN_SIZE, Vlen { base: Box::new(base), text: None })
    }

    /// A variable-length value whose reference takes `size` bytes.
    pub fn vlen_of_size(size: u32, mut vlen: Vlen) -> Result<Datatype> {
        if matches!(vlen.base.class, Class::Reference(Reference::Revised(_))) && vlen.base.size == REVISED_IN_MEMORY {
            vlen.base.size = REVISED_IN_FILE;
        }
        Datatype::checked(size, Class::Vlen(vlen))
    }

    /// Bytes with a tag.
    pub fn opaque(size: u32, tag: impl Into<Vec<u8>>) -> Result<Datatype> {
        let tag = tag.into();
        if tag.len() > MAX_TAG || tag.contains(&0) {
            return Err(Error::invalid("opaque", format!("a tag has at most {MAX_TAG} bytes and no NUL")));
        }
        Datatype::checked(size, Class::Opaque(tag))
    }

    /// A reference whose stored form takes `size` bytes.
    pub fn reference(size: u32, reference: Reference) -> Result<Datatype> {
        Datatype::checked(size, Class::Reference(reference))
    }

    /// A box of values.
    pub fn array(base: Datatype, dims: &[u32]) -> Result<Datatype> {
        if dims.len() > MAX_RANK {
            return Err(Error::invalid("array", format!("{} dimensions are too many", dims.len())));
        }
        let size = dims.iter().try_fold(base.size, |size, &dim| size.checked_mul(dim));
        let size = size.ok_or_else(|| Error::invalid("array", format!("{dims:?} elements of {} bytes", base.size)))?;
        Datatype::checked(size, Class::Array(Array { base: Box::new(base), dims: dims.to_vec() }))
    }

    /// One dimension, of a size that is known to fit.
    pub(crate) fn array_of(base: Datatype, count: u32) -> Datatype {
        let (size, depth) = (base.size.saturating_mul(count), base.depth.saturating_add(1));
        Datatype { size, depth, class: Class::Array(Array { base: Box::new(base), dims: vec![count] }) }
    }

    /// A complex number with parts of type `base`, a floating-point type.
    pub fn complex(base: Datatype) -> Result<Datatype> {
        if !matches!(base.class, Class::Float(_)) {
            return Err(Error::invalid("complex", format!("the parts are {base}, not floating-point numbers")));
        }
        let size = base.size.checked_mul(2).ok_or_else(|| Error::invalid("complex", "the parts are too large"))?;
        Datatype::checked(size, Class::Complex(Box::new(base)))
    }
}

fn no_vax(what: &'static str, order: Order) -> Result<()> {
    if order == Order::Vax { Err(Error::invalid(what, "VAX order is for floating-point numbers")) } else { Ok(()) }
}
