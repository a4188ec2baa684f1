//! The link message: a name and what it stands for.
//!
//! ```text
//!  | version 1 | flags | (kind) | (creation order, 8) | (character set) | name length, 1 2 4 or 8 | name | target |
//!  target, hard: | header O |   soft: | length, 2 | path |   others: | length, 2 | data |
//!  data of an external link: | version and flags | file name, 0 | path, 0 |
//! ```

use hyperslab_base::{Reader, Width, Widths};

use crate::Result;

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
