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
//!  10, 11  chunks                                     | O | (11: size | mask, 4) | place in the grid, 8 per dimension |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

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
    /// Chunks without filters.
    pub const CHUNK: u8 = 10;
    /// Filtered chunks.
    pub const FILTERED_CHUNK: u8 = 11;
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
        place: AttributePlace,
        /// The hash of the name.
        hash: u32,
    },
    /// An attribute by creation order.
    AttributeOrder(AttributePlace),
    /// A chunk; its start is counted in chunks.
    Chunk(ChunkEntry),
}

/// Where an attribute is, as both of its trees say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributePlace {
    /// Its id, in the heap of attributes or of shared messages.
    pub id: [u8; 8],
    /// The flags of its message; they tell whether it is shared.
    pub flags: u8,
    /// Its place in the order of creation.
    pub order: u32,
}

/// What must be known to read or write records: their type, and for chunks their dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The type, as the header of the tree has it.
    pub kind: u8,
    /// How many dimensions chunks have.
    pub rank: usize,
    /// How many bytes a chunk without filters has.
    pub chunk_bytes: u64,
    /// How wide the stored size of a filtered chunk is.
    pub size_width: Width,
}

const WHAT: &str = "B-tree record";

impl Form {
    /// The form of records that are not chunks.
    pub const fn plain(kind: u8) -> Form {
        Form { kind, rank: 0, chunk_bytes: 0, size_width: Width::W8 }
    }

    /// How many bytes a record takes; none for an unknown type.
    pub fn size(&self, widths: Widths) -> Option<usize> {
        let chunk = widths.offsets.bytes() + 8 * self.rank;
        Some(match self.kind {
            kind::HUGE | kind::FILTERED_HUGE => {
                Huge::size(self.kind == kind::FILTERED_HUGE, widths) + widths.lengths.bytes()
            }
            kind::DIRECT_HUGE | kind::DIRECT_FILTERED_HUGE => {
                Huge::size(self.kind == kind::DIRECT_FILTERED_HUGE, widths)
            }
            kind::LINK_NAME => 4 + 7,
            kind::LINK_ORDER => 8 + 7,
            kind::SHARED => SharedRecord::size(widths),
            kind::ATTRIBUTE_NAME => 8 + 1 + 4 + 4,
            kind::ATTRIBUTE_ORDER => 8 + 1 + 4,
            kind::CHUNK => chunk,
            kind::FILTERED_CHUNK => chunk + self.size_width.bytes() + 4,
            _ => return None,
        })
    }

    /// Reads a record.
    pub fn decode(&self, bytes: &[u8], widths: Widths) -> Result<Record> {
        let mut reader = Reader::new(WHAT, bytes);
        Ok(match self.kind {
            kind::HUGE | kind::FILTERED_HUGE => {
                let huge = Huge::decode(&mut reader, self.kind == kind::FILTERED_HUGE, widths)?;
                Record::Huge(huge, Some(reader.length(widths)?))
            }
            kind::DIRECT_HUGE | kind::DIRECT_FILTERED_HUGE => {
                Record::Huge(Huge::decode(&mut reader, self.kind == kind::DIRECT_FILTERED_HUGE, widths)?, None)
            }
            kind::LINK_NAME => Record::LinkName { hash: reader.u32()?, id: reader.array()? },
            kind::LINK_ORDER => Record::LinkOrder { order: reader.u64()?.cast_signed(), id: reader.array()? },
            kind::SHARED => Record::Shared(SharedRecord::decode(&mut reader, widths)?),
            kind::ATTRIBUTE_NAME => {
                Record::AttributeName { place: AttributePlace::decode(&mut reader)?, hash: reader.u32()? }
            }
            kind::ATTRIBUTE_ORDER => Record::AttributeOrder(AttributePlace::decode(&mut reader)?),
            kind::CHUNK | kind::FILTERED_CHUNK => {
                let address = reader.address(widths)?;
                let (size, mask) = match self.kind {
                    kind::CHUNK => (self.chunk_bytes, 0),
                    _ => (reader.uint(self.size_width)?, reader.u32()?),
                };
                let start = (0..self.rank).map(|_| reader.u64()).collect::<Result<_>>()?;
                Record::Chunk(ChunkEntry { start, address, size, mask })
            }
            other => return Err(reader.refuse(format!("unknown type {other}"))),
        })
    }

    /// Writes a record.
    pub fn encode(&self, record: &Record, widths: Widths) -> Encoded {
        let mut writer = Writer::new(WHAT);
        match (self.kind, record) {
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
            (kind::ATTRIBUTE_NAME, Record::AttributeName { place, hash }) => {
                place.encode(&mut writer);
                writer.u32(*hash);
            }
            (kind::ATTRIBUTE_ORDER, Record::AttributeOrder(place)) => place.encode(&mut writer),
            (kind::CHUNK | kind::FILTERED_CHUNK, Record::Chunk(chunk)) => {
                self.encode_chunk(&mut writer, chunk, widths)?
            }
            _ => return Err(writer.refuse("type", format!("this is no record of type {}", self.kind))),
        }
        Ok(writer.into_bytes())
    }

    fn encode_huge(&self, writer: &mut Writer, huge: &Huge, widths: Widths) -> Encoded<()> {
        let filtered = matches!(self.kind, kind::FILTERED_HUGE | kind::DIRECT_FILTERED_HUGE);
        if huge.filtered.is_some() != filtered {
            return Err(writer.refuse("filter mask", "objects of filtered heaps have one, no others"));
        }
        huge.encode(writer, widths)
    }

    fn encode_chunk(&self, writer: &mut Writer, chunk: &ChunkEntry, widths: Widths) -> Encoded<()> {
        if chunk.start.len() != self.rank {
            return Err(writer.refuse("place", format!("{} dimensions where {} belong", chunk.start.len(), self.rank)));
        }
        writer.address("address of a chunk", widths, chunk.address)?;
        if self.kind == kind::FILTERED_CHUNK {
            writer.uint("size of a chunk", self.size_width, chunk.size)?;
            writer.u32(chunk.mask);
        } else if (chunk.size, chunk.mask) != (self.chunk_bytes, 0) {
            return Err(writer.refuse("size of a chunk", "a chunk without filters has the size of all others"));
        }
        chunk.start.iter().for_each(|&place| writer.u64(place));
        Ok(())
    }
}

impl AttributePlace {
    fn decode(reader: &mut Reader<'_>) -> Result<AttributePlace> {
        Ok(AttributePlace { id: reader.array()?, flags: reader.u8()?, order: reader.u32()? })
    }

    fn encode(&self, writer: &mut Writer) {
        writer.extend(&self.id);
        writer.u8(self.flags);
        writer.u32(self.order);
    }
}
