//! The table of shared messages, and the lists that small indexes are.
//!
//! ```text
//!  table   | SMTB | per index: version 0 | kind | types, 2 | least size, 4 | list limit, 2 | tree limit, 2 | messages, 2 | index O | heap O | checksum, 4 |
//!  list    | SMLI | messages… | checksum, 4 | room for more |
//!  message | in heap or header | hash, 4 | (heap: references, 4 | heap id, 8) (header: 0 | type | place, 2 | header O) |
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// One index of shared messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedIndex {
    /// Whether it is a list; else a B-tree.
    pub is_list: bool,
    /// Which message types it holds, one bit each.
    pub types: u16,
    /// Smaller messages are not shared.
    pub min_size: u32,
    /// A list with more messages becomes a tree.
    pub max_list: u16,
    /// A tree with fewer messages becomes a list.
    pub min_tree: u16,
    /// How many messages it holds.
    pub messages: u16,
    /// The list or tree.
    pub index: Option<u64>,
    /// The fractal heap of the messages.
    pub heap: Option<u64>,
}

/// How many bytes a table with `indexes` indexes takes.
pub const fn table_size(indexes: u8, widths: Widths) -> usize {
    4 + indexes as usize * (14 + 2 * widths.offsets.bytes()) + 4
}

/// Reads the table.
pub fn decode_table(bytes: &[u8], indexes: u8, widths: Widths) -> Result<Vec<SharedIndex>> {
    let mut reader = Reader::new("shared message table", bytes);
    reader.signature(b"SMTB")?;
    reader.sealed(table_size(indexes, widths))?;
    let mut table = Vec::with_capacity(usize::from(indexes));
    for _ in 0..indexes {
        reader.version(0..=0)?;
        let is_list = reader.u8()? == 0;
        let (types, min_size) = (reader.u16()?, reader.u32()?);
        let (max_list, min_tree, messages) = (reader.u16()?, reader.u16()?, reader.u16()?);
        let (index, heap) = (reader.address(widths)?, reader.address(widths)?);
        table.push(SharedIndex { is_list, types, min_size, max_list, min_tree, messages, index, heap });
    }
    Ok(table)
}

/// Writes the table.
pub fn encode_table(table: &[SharedIndex], widths: Widths) -> Encoded {
    let mut writer = Writer::new("shared message table");
    if table.len() > usize::from(u8::MAX) {
        return Err(writer.refuse("indexes", format!("{} do not fit 1 byte", table.len())));
    }
    writer.extend(b"SMTB");
    for index in table {
        writer.extend(&[0, u8::from(!index.is_list)]);
        writer.u16(index.types);
        writer.u32(index.min_size);
        [index.max_list, index.min_tree, index.messages].iter().for_each(|&number| writer.u16(number));
        writer.address("index", widths, index.index)?;
        writer.address("heap", widths, index.heap)?;
    }
    writer.checksum();
    Ok(writer.into_bytes())
}

/// A shared message, as lists and B-trees of type 7 know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedRecord {
    /// The hash of its bytes.
    pub hash: u32,
    /// Where it is.
    pub location: MessageLocation,
}

/// Where a shared message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLocation {
    /// In the heap of its index.
    Heap {
        /// How many objects use it.
        references: u32,
        /// Its id.
        id: [u8; 8],
    },
    /// In the only object header that uses it so far.
    Header {
        /// The type of the message.
        kind: u8,
        /// Which of the header's messages of this type, in the order of creation.
        order: u16,
        /// The header.
        header: Option<u64>,
    },
}

impl SharedRecord {
    /// How many bytes a record takes: as many as the longer of its two forms.
    pub const fn size(widths: Widths) -> usize {
        let header = 4 + widths.offsets.bytes();
        5 + if header > 12 { header } else { 12 }
    }

    /// Reads a record.
    pub fn decode(reader: &mut Reader<'_>, widths: Widths) -> Result<SharedRecord> {
        let mut record = Reader::new("shared message record", reader.take(Self::size(widths))?);
        let (kind, hash) = (record.u8()?, record.u32()?);
        let location = match kind {
            0 => MessageLocation::Heap { references: record.u32()?, id: record.array()? },
            1 => {
                record.skip(1)?;
                MessageLocation::Header { kind: record.u8()?, order: record.u16()?, header: record.address(widths)? }
            }
            other => return Err(record.refuse(format!("unknown location {other}"))),
        };
        Ok(SharedRecord { hash, location })
    }

    /// Writes a record.
    pub fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        let end = writer.position() + Self::size(widths);
        match self.location {
            MessageLocation::Heap { references, id } => {
                writer.u8(0);
                writer.u32(self.hash);
                writer.u32(references);
                writer.extend(&id);
            }
            MessageLocation::Header { kind, order, header } => {
                writer.u8(1);
                writer.u32(self.hash);
                writer.extend(&[0, kind]);
                writer.u16(order);
                writer.address("header", widths, header)?;
            }
        }
        writer.fill_to("record", end)
    }
}

/// How many bytes a list with room for `max_list` messages takes.
pub const fn list_size(max_list: u16, widths: Widths) -> usize {
    4 + max_list as usize * SharedRecord::size(widths) + 4
}

/// Reads a list of `messages` messages.
pub fn decode_list(bytes: &[u8], messages: u16, widths: Widths) -> Result<Vec<SharedRecord>> {
    let mut reader = Reader::new("shared message list", bytes);
    reader.signature(b"SMLI")?;
    reader.sealed(list_size(messages, widths))?;
    (0..messages).map(|_| SharedRecord::decode(&mut reader, widths)).collect()
}

/// Writes a list with room for `max_list` messages.
pub fn encode_list(records: &[SharedRecord], max_list: u16, widths: Widths) -> Encoded {
    let mut writer = Writer::new("shared message list");
    writer.extend(b"SMLI");
    records.iter().try_for_each(|record| record.encode(&mut writer, widths))?;
    writer.checksum();
    writer.fill_to("messages", list_size(max_list, widths))?;
    Ok(writer.into_bytes())
}
