//! Messages of a few fields.

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

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

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("continuation message");
        writer.address("address", widths, Some(self.address))?;
        writer.length("length", widths, self.length)?;
        Ok(writer.into_bytes())
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

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("symbol table message");
        writer.address("B-tree", widths, self.btree)?;
        writer.address("heap", widths, self.heap)?;
        Ok(writer.into_bytes())
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

    /// Writes the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new("B-tree K message");
        writer.u8(0);
        [self.chunk_internal, self.group_internal, self.group_leaf].iter().for_each(|&k| writer.u16(k));
        writer.into_bytes()
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

    /// Writes the message.
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::new("driver info message");
        writer.u8(0);
        writer.extend(&self.name);
        writer.count("size", Width::W2, self.info.len())?;
        writer.extend(&self.info);
        Ok(writer.into_bytes())
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

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("shared message table message");
        writer.u8(0);
        writer.address("table", widths, self.table)?;
        writer.u8(self.indexes);
        Ok(writer.into_bytes())
    }
}
