//! The attribute message: a small named array.
//!
//! ```text
//!  1  | version 1 | 0 | name size, 2 | type size, 2 | space size, 2 | name | type | space, each padded to 8 | values |
//!  2  | version 2 | flags | sizes as above | name | type | space | values |
//!  3  | version 3 | flags | sizes as above | character set | name | type | space | values |
//! ```

use hyperslab_base::Reader;

use super::CharSet;
use crate::Result;

/// The parts of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// How the name is written.
    pub charset: CharSet,
    /// The datatype message, or where it is.
    pub datatype: &'a [u8],
    /// Whether the datatype is somewhere else.
    pub datatype_shared: bool,
    /// The dataspace message, or where it is.
    pub dataspace: &'a [u8],
    /// Whether the dataspace is somewhere else.
    pub dataspace_shared: bool,
    /// The values, and whatever pads them.
    pub data: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// Reads an attribute message.
    pub fn decode(bytes: &'a [u8]) -> Result<Attribute<'a>> {
        let mut reader = Reader::new("attribute message", bytes);
        let version = reader.version(1..=3)?;
        let flags = reader.u8()?;
        let [name, datatype, dataspace] = [reader.u16()?, reader.u16()?, reader.u16()?].map(usize::from);
        let charset = if version == 3 { CharSet::decode(&mut reader)? } else { CharSet::Ascii };
        let mut part = |size: usize| -> Result<&'a [u8]> {
            let bytes = reader.take(size)?;
            if version == 1 {
                reader.align(8);
            }
            Ok(bytes)
        };
        let name = part(name)?;
        let (datatype, dataspace) = (part(datatype)?, part(dataspace)?);
        let shared = |bit: u8| version > 1 && flags & bit != 0;
        Ok(Attribute {
            // The stored name ends with a zero.
            name: name.split(|&byte| byte == 0).next().unwrap_or(name),
            charset,
            datatype,
            datatype_shared: shared(1),
            dataspace,
            dataspace_shared: shared(2),
            data: reader.rest(),
        })
    }
}
