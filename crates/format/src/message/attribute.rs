//! The attribute message: a small named array.
//!
//! ```text
//!  1  | version 1 | 0 | name size, 2 | type size, 2 | space size, 2 | name | type | space, each padded to 8 | values |
//!  2  | version 2 | flags | sizes as above | name | type | space | values |
//!  3  | version 3 | flags | sizes as above | character set | name | type | space | values |
//! ```

use hyperslab_base::{Reader, Width, Writer};

use super::CharSet;
use crate::{Encoded, Result};

/// The parts of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The version of the message, 1 to 3.
    pub version: u8,
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
            version,
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

    /// Writes the message. Versions 1 and 2 have no place for another character set than ASCII, version 1 none for shared parts.
    pub fn encode(&self) -> Encoded {
        let parts = self.name.len() + self.datatype.len() + self.dataspace.len() + self.data.len();
        // The head, the end of the name, and what pads three parts.
        let mut writer = Writer::sized("attribute message", 9 + 1 + 3 * 7 + parts);
        if !(1..=3).contains(&self.version) {
            return Err(writer.refuse("version", format!("there is no version {}", self.version)));
        }
        if self.name.contains(&0) {
            return Err(writer.refuse("name", "a name with a zero in it"));
        }
        let flags = u8::from(self.datatype_shared) | u8::from(self.dataspace_shared) << 1;
        if self.version == 1 && flags != 0 {
            return Err(writer.refuse("flags", "version 1 has no shared parts"));
        }
        writer.extend(&[self.version, flags]);
        writer.count("name size", Width::W2, self.name.len().saturating_add(1))?;
        writer.count("type size", Width::W2, self.datatype.len())?;
        writer.count("space size", Width::W2, self.dataspace.len())?;
        if self.version == 3 {
            writer.u8(self.charset.code());
        } else if self.charset != CharSet::Ascii {
            return Err(writer.refuse("character set", "only version 3 has a place for it"));
        }
        for (part, end) in [(self.name, &[0][..]), (self.datatype, &[]), (self.dataspace, &[])] {
            writer.extend(part);
            writer.extend(end);
            if self.version == 1 {
                writer.align(8);
            }
        }
        writer.extend(self.data);
        Ok(writer.into_bytes())
    }
}
