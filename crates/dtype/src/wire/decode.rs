//! From bytes to a datatype.

use hyperslab_base::{Cursor, Width};

use super::{REVISED_VERSION, code, flag, offset_width};
use crate::compound::Member;
use crate::datatype::{MAX_DEPTH, MAX_RANK, Reference, Revised, Vlen};
use crate::{Bits, Charset, Datatype, Error, Field, Fixed, Float, Name, Normalization, Order, Padding, Result};

/// Dimensions that a member of a version 1 compound may have by itself.
const OLD_RANK: u8 = 4;

impl Datatype {
    /// Reads a datatype message and says how many bytes it took. Bytes after its end are left alone.
    ///
    /// ```
    /// use hyperslab_dtype::{Datatype, Version};
    /// let mut bytes = Datatype::of::<u32>().encode(Version::V1);
    /// bytes.extend([7; 4]);
    /// let (datatype, used) = Datatype::decode(&bytes)?;
    /// assert_eq!((datatype, used), (Datatype::of::<u32>(), 12));
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<(Datatype, usize)> {
        let mut reader = Reader { cursor: Cursor::new(bytes) };
        let datatype = reader.datatype(0)?;
        Ok((datatype, reader.cursor.position()))
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
}

/// What every message starts with.
struct Head {
    version: u8,
    flags: u32,
    size: u32,
    depth: u8,
}

impl Head {
    /// Whether names are padded to eight bytes and arrays carry permutations.
    fn is_padded(&self) -> bool {
        self.version < 3
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Four bits of the class bits.
    fn nibble(&self, shift: u32) -> u32 {
        self.flags >> shift & 0x0f
    }

    fn order(&self) -> Order {
        if self.has(flag::BIG) { Order::Big } else { Order::Little }
    }
}

impl<'a> Reader<'a> {
    fn refuse<T>(&self, why: impl Into<String>) -> Result<T> {
        Err(Error::Decode { at: self.cursor.position(), why: why.into() })
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(self.cursor.uint(Width::W2)? as u16)
    }

    fn datatype(&mut self, depth: u8) -> Result<Datatype> {
        if depth > MAX_DEPTH {
            return self.refuse(format!("datatypes nest deeper than {MAX_DEPTH} levels"));
        }
        let first = self.cursor.u32()?;
        let (version, class) = ((first >> 4 & 0x0f) as u8, (first & 0x0f) as u8);
        if !(1..=5).contains(&version) {
            return self.refuse(format!("unknown version {version}"));
        }
        let head = Head { version, flags: first >> 8, size: self.cursor.u32()?, depth };
        match class {
            code::FIXED => {
                let bits = self.bits(&head)?;
                Datatype::fixed(head.size, Fixed { bits, signed: head.has(flag::SIGNED) })
            }
            code::FLOAT => self.float(&head),
            code::TIME => Datatype::time(head.size, head.order(), self.u16()?),
            code::STRING => {
                let (padding, charset) = self.text(head.nibble(0), head.nibble(4))?;
                Datatype::string(head.size, padding, charset)
            }
            code::BITFIELD => Datatype::bitfield(head.size, self.bits(&head)?),
            code::OPAQUE => self.opaque(&head),
            code::COMPOUND => self.compound(&head),
            code::REFERENCE => self.reference(&head),
            code::ENUM => self.enumeration(&head),
            code::VLEN => self.vlen(&head),
            code::ARRAY => self.array(&head),
            code::COMPLEX => self.complex(&head),
            _ => self.refuse(format!("unknown class {class}")),
        }
    }

    fn base(&mut self, head: &Head) -> Result<Datatype> {
        self.datatype(head.depth + 1)
    }

    fn bits(&mut self, head: &Head) -> Result<Bits> {
        Ok(Bits {
            order: head.order(),
            low_pad: head.has(flag::LOW_PAD),
            high_pad: head.has(flag::HIGH_PAD),
            offset: self.u16()?,
            precision: self.u16()?,
        })
    }

    fn float(&mut self, head: &Head) -> Result<Datatype> {
        let mut bits = self.bits(head)?;
        if head.version >= 3 && head.has(flag::VAX) {
            if bits.order == Order::Little {
                return self.refuse("unknown byte order of a floating-point number");
            }
            bits.order = Order::Vax;
        }
        let normalization = match head.flags >> 4 & 0x03 {
            0 => Normalization::None,
            1 => Normalization::MsbSet,
            2 => Normalization::Implied,
            _ => return self.refuse("unknown normalization of a floating-point number"),
        };
        let mut field = || Ok::<_, Error>(Field { at: self.cursor.u8()?, size: self.cursor.u8()? });
        let float = Float {
            bits,
            inner_pad: head.has(flag::INNER_PAD),
            normalization,
            sign: (head.flags >> 8) as u8,
            exponent: field()?,
            mantissa: field()?,
            bias: self.cursor.u32()?,
        };
        Datatype::float(head.size, float)
    }

    fn text(&self, padding: u32, charset: u32) -> Result<(Padding, Charset)> {
        match (Padding::of_code(padding), Charset::of_code(charset)) {
            (Some(padding), Some(charset)) => Ok((padding, charset)),
            _ => self.refuse(format!("string padding {padding} with character set {charset}")),
        }
    }

    fn opaque(&mut self, head: &Head) -> Result<Datatype> {
        let length = head.flags as usize & 0xff;
        if !length.is_multiple_of(8) {
            return self.refuse(format!("the tag of an opaque datatype takes {length} bytes, not a multiple of 8"));
        }
        let tag = self.cursor.take(length)?;
        Datatype::opaque(head.size, Padding::NullTerm.strip(tag))
    }

    /// A name with its NUL; before version 3 padded to eight bytes.
    fn name(&mut self, head: &Head) -> Result<Name> {
        let ahead = self.cursor.clone().take(self.cursor.left())?;
        let Some(length) = ahead.iter().position(|&byte| byte == 0) else {
            return self.refuse("a member name does not end");
        };
        let stored = if head.is_padded() { (length + 8) / 8 * 8 } else { length + 1 };
        let stored = self.cursor.take(stored)?;
        Name::new(stored.get(..length).unwrap_or_default())
    }

    fn compound(&mut self, head: &Head) -> Result<Datatype> {
        let offset_width = if head.is_padded() { Width::W4 } else { offset_width(head.size) };
        let mut members = Vec::new();
        for _ in 0..head.flags & 0xffff {
            let name = self.name(head)?;
            let offset = self.cursor.uint(offset_width)? as u32;
            let dims = if head.version == 1 { self.old_dims()? } else { Vec::new() };
            let base = self.base(head)?;
            let datatype = if dims.is_empty() { base } else { Datatype::array(base, &dims)? };
            members.push(Member { name, offset, datatype });
        }
        Datatype::compound_of(head.size, members)
    }

    /// In version 1, a member could be an array without an array datatype.
    fn old_dims(&mut self) -> Result<Vec<u32>> {
        let rank = self.cursor.u8()?;
        if rank > OLD_RANK {
            return self.refuse(format!("a member has {rank} dimensions"));
        }
        self.cursor.skip(3 + 4 + 4)?;
        let mut dims = Vec::new();
        for _ in 0..OLD_RANK {
            dims.push(self.cursor.u32()?);
        }
        dims.truncate(rank.into());
        Ok(dims)
    }

    fn reference(&mut self, head: &Head) -> Result<Datatype> {
        let reference = match head.nibble(0) {
            0 => Reference::Object,
            1 => Reference::Region,
            2 => Reference::Revised(Revised::Object),
            3 => Reference::Revised(Revised::Region),
            4 => Reference::Revised(Revised::Attribute),
            kind => return self.refuse(format!("unknown reference kind {kind}")),
        };
        if matches!(reference, Reference::Revised(_)) && head.nibble(4) != REVISED_VERSION {
            return self.refuse(format!("unknown version {} of a reference", head.nibble(4)));
        }
        Datatype::reference(head.size, reference)
    }

    fn enumeration(&mut self, head: &Head) -> Result<Datatype> {
        // libhdf5 reads the names as the base is written, if that is newer.
        let version = self.cursor.clone().u8()? >> 4;
        let base = self.base(head)?;
        let head = &Head { version: head.version.max(version), ..*head };
        if base.size != head.size {
            return self.refuse(format!("an enumeration of {} bytes with values of {}", head.size, base.size));
        }
        let mut names = Vec::new();
        for _ in 0..head.flags & 0xffff {
            names.push(self.name(head)?);
        }
        let length = names.len().saturating_mul(base.size());
        let values = self.cursor.take(length)?.to_vec();
        Datatype::enumeration_of(base, names, values)
    }

    fn vlen(&mut self, head: &Head) -> Result<Datatype> {
        let text = match head.nibble(0) {
            0 => None,
            1 => Some(self.text(head.nibble(4), head.nibble(8))?),
            kind => return self.refuse(format!("unknown variable-length kind {kind}")),
        };
        let base = Box::new(self.base(head)?);
        Datatype::vlen_of_size(head.size, Vlen { base, text })
    }

    fn array(&mut self, head: &Head) -> Result<Datatype> {
        let rank = usize::from(self.cursor.u8()?);
        if rank > MAX_RANK {
            return self.refuse(format!("an array of {rank} dimensions"));
        }
        if head.is_padded() {
            self.cursor.skip(3)?;
        }
        let dims: Vec<u32> = (0..rank).map(|_| self.cursor.u32()).collect::<std::result::Result<_, _>>()?;
        if head.is_padded() {
            self.cursor.skip(4 * rank)?;
        }
        let array = Datatype::array(self.base(head)?, &dims)?;
        if array.size != head.size {
            return self.refuse(format!("an array of {} bytes whose elements take {}", head.size, array.size));
        }
        Ok(array)
    }

    fn complex(&mut self, head: &Head) -> Result<Datatype> {
        // Bits 1 and 2 are the form; only the rectangular one, zero, exists.
        if head.flags != flag::HOMOGENEOUS {
            return self.refuse(format!("unknown form {:#x} of a complex number", head.flags));
        }
        let complex = Datatype::complex(self.base(head)?)?;
        if complex.size != head.size {
            return self.refuse(format!("a complex number of {} bytes whose parts take {}", head.size, complex.size));
        }
        Ok(complex)
    }
}
