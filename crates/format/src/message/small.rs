//! Messages of a few fields.

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// Where the header goes on: `| address O | length L |`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub length: u64,
}

impl Continuation {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<Continuation> {
        let mut reader = Reader::new("continuation message", bytes);
        let address = reader.address(widths)?;
        let address = address.ok_or_else(|| reader.refuse("a continuation without an address"))?;
        Ok(Continuation { address, length: reader.length(widths)? })
    }
}

/// Where the links of an old-style group are: `| B-tree O | local heap O |`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTable {
    /// The B-tree.
    pub btree: Option<u64>,
    /// The local heap of the names.
    pub heap: Option<u64>,
}

impl SymbolTable {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<SymbolTable> {
        let mut reader = Reader::new("symbol table message", bytes);
        Ok(SymbolTable { btree: reader.address(widths)?, heap: reader.address(widths)? })
    }
}

/// The K of B-trees: `| version 0 | chunks, 2 | group nodes, 2 | group leaves, 2 |`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtreeK {
    /// Of chunk trees.
    pub chunk_internal: u16,
    /// Of group trees.
    pub group_internal: u16,
    /// Of symbol table nodes.
    pub group_leaf: u16,
}

impl BtreeK {
    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<BtreeK> {
        let mut reader = Reader::new("B-tree K message", bytes);
        reader.version(0..=0)?;
        let (chunk_internal, group_internal, group_leaf) = (reader.u16()?, reader.u16()?, reader.u16()?);
        Ok(BtreeK { chunk_internal, group_internal, group_leaf })
    }
}

/// What a driver left: `| version 0 | name, 8 | size, 2 | info |`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// Which driver.
    pub name: [u8; 8],
    /// What it left.
    pub info: Vec<u8>,
}

impl DriverInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<DriverInfo> {
        let mut reader = Reader::new("driver info message", bytes);
        reader.version(0..=0)?;
        let name = reader.array()?;
        let size = usize::from(reader.u16()?);
        Ok(DriverInfo { name, info: reader.take(size)?.to_vec() })
    }
}

/// Where the shared message table is: `| version 0 | table O | indexes |`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedTable {
    /// The table.
    pub table: Option<u64>,
    /// How many indexes it has.
    pub indexes: u8,
}

impl SharedTable {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<SharedTable> {
        let mut reader = Reader::new("shared message table message", bytes);
        reader.version(0..=0)?;
        Ok(SharedTable { table: reader.address(widths)?, indexes: reader.u8()? })
    }
}

/// Reads a comment: bytes up to a zero.
pub fn comment(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}

/// Reads how many hard links an object has: `| version 0 | count, 4 |`.
pub fn reference_count(bytes: &[u8]) -> Result<u32> {
    let mut reader = Reader::new("reference count message", bytes);
    reader.version(0..=0)?;
    reader.u32()
}

/// Reads the modification time in seconds since 1970: `| version 1 | 0, 3 | seconds, 4 |`.
pub fn modification_time(bytes: &[u8]) -> Result<u32> {
    let mut reader = Reader::new("modification time message", bytes);
    reader.version(1..=1)?;
    reader.skip(3)?;
    reader.u32()
}

/// Reads the modification time in its first form: fourteen digits, `YYYYMMDDhhmmss`.
pub fn old_modification_time(bytes: &[u8]) -> Result<&[u8]> {
    let mut reader = Reader::new("old modification time message", bytes);
    let digits = reader.take(14)?;
    if digits.iter().all(u8::is_ascii_digit) { Ok(digits) } else { Err(reader.refuse("a time that is not digits")) }
}
