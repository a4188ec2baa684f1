//! The link message: a name and what it stands for.
//!
//! ```text
//!  | version 1 | flags | (kind) | (creation order, 8) | (character set) | name length, 1 2 4 or 8 | name | target |
//!  target, hard: | header O |   soft: | length, 2 | path |   others: | length, 2 | data |
//!  data of an external link: | version and flags | file name, 0 | path, 0 |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: Vec<u8>,
    /// How the name is written.
    pub charset: CharSet,
    /// Its place in the order of creation, if that is kept.
    pub order: Option<i64>,
    /// What it stands for.
    pub target: Target,
}

/// What a link stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object: the address of its header.
    Hard(u64),
    /// A path in this file.
    Soft(Vec<u8>),
    /// A path in another file.
    External {
        /// The file.
        file: Vec<u8>,
        /// The path in it.
        path: Vec<u8>,
    },
    /// Something of the user's.
    User {
        /// Its class.
        class: u8,
        /// What its class keeps.
        data: Vec<u8>,
    },
}

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharSet {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

impl CharSet {
    pub(super) const fn code(self) -> u8 {
        match self {
            CharSet::Ascii => 0,
            CharSet::Utf8 => 1,
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<CharSet> {
        match reader.u8()? {
            0 => Ok(CharSet::Ascii),
            1 => Ok(CharSet::Utf8),
            other => Err(reader.refuse(format!("unknown character set {other}"))),
        }
    }
}

const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;

impl Link {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<Link> {
        let mut reader = Reader::new("link message", bytes);
        reader.version(1..=1)?;
        let flags = reader.u8()?;
        if flags & !0x1f != 0 {
            return Err(reader.refuse(format!("unknown flags {flags:#x}")));
        }
        let kind = if flags & 0x08 != 0 { reader.u8()? } else { HARD };
        let order = if flags & 0x04 != 0 { Some(reader.u64()?.cast_signed()) } else { None };
        let charset = if flags & 0x10 != 0 { CharSet::decode(&mut reader)? } else { CharSet::Ascii };
        let length = reader.uint(Width::new(1 << (flags & 3)).unwrap_or(Width::W8))?;
        if length == 0 {
            return Err(reader.refuse("a link without a name"));
        }
        let name = reader.take(usize::try_from(length).unwrap_or(usize::MAX))?.to_vec();
        let target = match kind {
            HARD => {
                let address = reader.address(widths)?;
                Target::Hard(address.ok_or_else(|| reader.refuse("a hard link without an address"))?)
            }
            SOFT => Target::Soft(sized(&mut reader)?.to_vec()),
            EXTERNAL => external(sized(&mut reader)?)?,
            class if class > EXTERNAL => Target::User { class, data: sized(&mut reader)?.to_vec() },
            _ => return Err(reader.refuse(format!("unknown kind of link {kind}"))),
        };
        Ok(Link { name, charset, order, target })
    }

    /// Writes the message, in as few bytes as it takes.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("link message");
        if self.name.is_empty() {
            return Err(writer.refuse("name", "a link without a name"));
        }
        let kind = match &self.target {
            Target::Hard(_) => HARD,
            Target::Soft(_) => SOFT,
            Target::External { .. } => EXTERNAL,
            Target::User { class, .. } if *class > EXTERNAL => *class,
            Target::User { class, .. } => return Err(writer.refuse("kind", format!("{class} is not for users"))),
        };
        let (width, width_flag) = match Width::of(self.name.len() as u64).bytes() {
            1 => (Width::W1, 0),
            2 => (Width::W2, 1),
            3 | 4 => (Width::W4, 2),
            _ => (Width::W8, 3),
        };
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags =
            bit(self.order.is_some(), 0x04) | bit(kind != HARD, 0x08) | bit(self.charset != CharSet::Ascii, 0x10);
        writer.extend(&[1, flags | width_flag]);
        if kind != HARD {
            writer.u8(kind);
        }
        if let Some(order) = self.order {
            writer.u64(order.cast_unsigned());
        }
        if self.charset != CharSet::Ascii {
            writer.u8(self.charset.code());
        }
        writer.count("name length", width, self.name.len())?;
        writer.extend(&self.name);
        self.target.encode(&mut writer, widths)?;
        Ok(writer.into_bytes())
    }
}

impl Target {
    fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        let data = match self {
            Target::Hard(address) => return writer.address("object header", widths, Some(*address)),
            Target::Soft(path) => path,
            Target::External { file, path } => {
                if file.contains(&0) || path.contains(&0) {
                    return Err(writer.refuse("file and path", "a name with a zero in it"));
                }
                &[&[0], file.as_slice(), &[0], path, &[0]].concat()
            }
            Target::User { data, .. } => data,
        };
        writer.count("target length", Width::W2, data.len())?;
        writer.extend(data);
        Ok(())
    }
}

fn sized<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8]> {
    let length = usize::from(reader.u16()?);
    reader.take(length)
}

fn external(data: &[u8]) -> Result<Target> {
    let mut reader = Reader::new("external link", data);
    let version_and_flags = reader.u8()?;
    if version_and_flags != 0 {
        return Err(reader.refuse(format!("unknown version or flags {version_and_flags:#x}")));
    }
    let mut names = reader.rest().split(|&byte| byte == 0);
    match (names.next(), names.next()) {
        (Some(file), Some(path)) => Ok(Target::External { file: file.to_vec(), path: path.to_vec() }),
        _ => Err(reader.refuse("file and path are not both there")),
    }
}
