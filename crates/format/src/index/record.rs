//! Records of the second kind of B-tree, by the type that its header has.
//!
//! ```text
//!  1, 2    huge objects of a fractal heap by number   | O | L | (2: mask, 4 | real size L) | number L |
//!  3, 4    the same, found by address                 | O | L | (4: mask, 4 | real size L) |
//!  5       links by name                              | hash, 4 | heap id, 7 |
//!  6       links by creation order                    | order, 8 | heap id, 7 |
//!  7       shared messages                            see `shared_messages`
//!  8       attributes by name                         | heap id, 8 | flags | order, 4 | hash, 4 |
//!  9       attributes by creation order               | heap id, 8 | flags | order, 4 |
//!  10–13   chunks                                     see `ChunkElement`
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use super::ChunkElement;
use crate::{ChunkEntry, Encoded, Result, heap::fractal::Huge, shared_messages::SharedRecord};

/// The types of records.
pub mod kind {
    /// Huge objects by number.
    pub const HUGE: u8 = 1;
    /// Filtered huge objects by number.
    pub const FILTERED_HUGE: u8 = 2;
    /// Huge objects by address.
    pub const DIRECT_HUGE: u8 = 3;
    /// Filtered huge objects by address.
    pub const DIRECT_FILTERED_HUGE: u8 = 4;
    /// Links by name.
    pub const LINK_NAME: u8 = 5;
    /// Links by creation order.
    pub const LINK_ORDER: u8 = 6;
    /// Shared messages.
    pub const SHARED: u8 = 7;
    /// Attributes by name.
    pub const ATTRIBUTE_NAME: u8 = 8;
    /// Attributes by creation order.
    pub const ATTRIBUTE_ORDER: u8 = 9;
    /// Dense chunks without filters; [`Client`](super::super::Client) has the types of the others, which follow.
    pub const CHUNK: u8 = 10;
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A huge object, with its number if ids have no room to say where it is.
    Huge(Huge, Option<u64>),
    /// A link by name.
    LinkName {
        /// The hash of the name.
        hash: u32,
        /// The id of the link in its heap.
        id: [u8; 7],
    },
    /// A link by creation order.
    LinkOrder {
        /// The order.
        order: i64,
        /// The id of the link in its heap.
        id: [u8; 7],
    },
    /// A shared message.
    Shared(SharedRecord),
    /// An attribute by name.
    AttributeName {
        /// Where it is.
        entry: AttributeEntry,
        /// The hash of the name.
        hash: u32,
    },
    /// An attribute by creation order.
    AttributeOrder(AttributeEntry),
    /// A chunk; its start is counted in chunks.
    Chunk(ChunkEntry),
}

/// Where an attribute is, as both of its trees say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeEntry {
    /// Its id, in the heap of attributes or of shared messages.
    pub id: [u8; 8],
    /// The flags of its message; they tell whether it is shared.
    pub flags: u8,
    /// Its place in the order of creation.
    pub order: u32,
}

/// What must be known to read or write records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Records of this type, which are no chunks.
    Plain(u8),
    /// Chunks, and how many dimensions they have.
    Chunk(ChunkElement, usize),
}

const WHAT: &str = "B-tree record";

impl Form {
    /// The type, as the header of the tree has it.
    pub const fn kind(&self) -> u8 {
        match self {
            Form::Plain(kind) => *kind,
            Form::Chunk(element, _) => element.client().record_kind(),
        }
    }

    /// How many bytes a record takes; none for an unknown type.
    pub fn size(&self, widths: Widths) -> Option<usize> {
        let kind = match self {
            Form::Chunk(element, rank) => return Some(element.size(widths) + 8 * rank),
            Form::Plain(kind) => *kind,
        };
        Some(match kind {
            kind::HUGE | kind::FILTERED_HUGE => {
                Huge::size(kind == kind::FILTERED_HUGE, widths) + widths.lengths.bytes()
            }
            kind::DIRECT_HUGE | kind::DIRECT_FILTERED_HUGE => Huge::size(kind == kind::DIRECT_FILTERED_HUGE, widths),
            kind::LINK_NAME => 4 + 7,
            kind::LINK_ORDER => 8 + 7,
            kind::SHARED => SharedRecord::size(widths),
            kind::ATTRIBUTE_NAME => 8 + 1 + 4 + 4,
            kind::ATTRIBUTE_ORDER => 8 + 1 + 4,
            _ => return None,
        })
    }

    /// Reads a record.
    pub fn decode(&self, bytes: &[u8], widths: Widths) -> Result<Record> {
        let mut reader = Reader::new(WHAT, bytes);
        let kind = match self {
            Form::Chunk(element, rank) => return Ok(Record::Chunk(element.decode(&mut reader, *rank, widths)?)),
            Form::Plain(kind) => *kind,
        };
        Ok(match kind {
            kind::HUGE | kind::FILTERED_HUGE => {
                let huge = Huge::decode(&mut reader, kind == kind::FILTERED_HUGE, widths)?;
                Record::Huge(huge, Some(reader.length(widths)?))
            }
            kind::DIRECT_HUGE | kind::DIRECT_FILTERED_HUGE => {
                Record::Huge(Huge::decode(&mut reader, kind == kind::DIRECT_FILTERED_HUGE, widths)?, None)
            }
            kind::LINK_NAME => Record::LinkName { hash: reader.u32()?, id: reader.array()? },
            kind::LINK_ORDER => Record::LinkOrder { order: reader.u64()?.cast_signed(), id: reader.array()? },
            kind::SHARED => Record::Shared(SharedRecord::decode(&mut reader, widths)?),
            kind::ATTRIBUTE_NAME => {
                Record::AttributeName { entry: AttributeEntry::decode(&mut reader)?, hash: reader.u32()? }
            }
            kind::ATTRIBUTE_ORDER => Record::AttributeOrder(AttributeEntry::decode(&mut reader)?),
            other => return Err(reader.refuse(format!("unknown type {other}"))),
        })
    }

    /// Writes a record.
    pub fn encode(&self, record: &Record, widths: Widths) -> Encoded {
        let mut writer = Writer::new(WHAT);
        match (self.kind(), record) {
            (kind::HUGE | kind::FILTERED_HUGE, Record::Huge(huge, Some(number))) => {
                self.encode_huge(&mut writer, huge, widths)?;
                writer.length("number", widths, *number)?;
            }
            (kind::DIRECT_HUGE | kind::DIRECT_FILTERED_HUGE, Record::Huge(huge, None)) => {
                self.encode_huge(&mut writer, huge, widths)?;
            }
            (kind::LINK_NAME, Record::LinkName { hash, id }) => {
                writer.u32(*hash);
                writer.extend(id);
            }
            (kind::LINK_ORDER, Record::LinkOrder { order, id }) => {
                writer.u64(order.cast_unsigned());
                writer.extend(id);
            }
            (kind::SHARED, Record::Shared(record)) => record.encode(&mut writer, widths)?,
            (kind::ATTRIBUTE_NAME, Record::AttributeName { entry, hash }) => {
                entry.encode(&mut writer);
                writer.u32(*hash);
            }
            (kind::ATTRIBUTE_ORDER, Record::AttributeOrder(entry)) => entry.encode(&mut writer),
            (_, Record::Chunk(chunk)) => self.encode_chunk(&mut writer, chunk, widths)?,
            _ => return Err(writer.refuse("type", format!("this is no record of type {}", self.kind()))),
        }
        Ok(writer.into_bytes())
    }

    fn encode_huge(&self, writer: &mut Writer, huge: &Huge, widths: Widths) -> Encoded<()> {
        let filtered = matches!(self.kind(), kind::FILTERED_HUGE | kind::DIRECT_FILTERED_HUGE);
        if huge.filtered.is_some() != filtered {
            return Err(writer.refuse("filter mask", "objects of filtered heaps have one, no others"));
        }
        huge.encode(writer, widths)
    }

    fn encode_chunk(&self, writer: &mut Writer, chunk: &ChunkEntry, widths: Widths) -> Encoded<()> {
        match self {
            Form::Chunk(element, rank) if chunk.start.len() == *rank => {
                element.encode(writer, chunk, &chunk.start, widths)
            }
            Form::Chunk(_, rank) => {
                Err(writer.refuse("place", format!("{} dimensions where {rank} belong", chunk.start.len())))
            }
            Form::Plain(kind) => Err(writer.refuse("type", format!("a chunk is no record of type {kind}"))),
        }
    }
}

impl AttributeEntry {
    fn decode(reader: &mut Reader<'_>) -> Result<AttributeEntry> {
        Ok(AttributeEntry { id: reader.array()?, flags: reader.u8()?, order: reader.u32()? })
    }

    fn encode(&self, writer: &mut Writer) {
        writer.extend(&self.id);
        writer.u8(self.flags);
        writer.u32(self.order);
    }
}
