//! How the chunks of a dataset are found, as the data layout message says it from version 4 on.

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result, Sections};

/// How the chunks of a dataset are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkIndex {
    /// The first kind of B-tree.
    BtreeV1,
    /// There is one chunk; the message has what is stored of a filtered or a structured one.
    Single(Option<Sections>),
    /// All chunks lie one after the other.
    Implicit,
    /// A fixed array.
    FixedArray {
        /// Elements in a page, as a power of two.
        page_bits: u8,
    },
    /// An extensible array.
    ExtensibleArray(ArrayShape),
    /// The second kind of B-tree.
    BtreeV2 {
        /// How many bytes a node takes.
        node_size: u32,
        /// How full a node must be to be split, in percent.
        split: u8,
        /// How empty a node must be to be merged, in percent.
        merge: u8,
    },
}

/// What an extensible array is made with; its header says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// The largest count of elements, as a power of two.
    pub count_bits: u8,
    /// Elements in the index block itself.
    pub in_index: u8,
    /// Data blocks in the smallest super block.
    pub min_blocks: u8,
    /// Elements in the smallest data block.
    pub min_elements: u8,
    /// Elements in a page, as a power of two.
    pub page_bits: u8,
}

pub(super) const BTREE_V1: u8 = 0;
pub(super) const SINGLE: u8 = 1;
pub(super) const IMPLICIT: u8 = 2;

impl ChunkIndex {
    /// Reads the index of dense chunks. A single chunk has its size and mask in the message if that is `filtered`.
    pub(super) fn decode(reader: &mut Reader<'_>, filtered: bool, widths: Widths) -> Result<ChunkIndex> {
        Ok(match reader.u8()? {
            SINGLE if filtered => ChunkIndex::Single(Some(Sections::one(reader.length(widths)?, reader.u32()?))),
            SINGLE => ChunkIndex::Single(None),
            IMPLICIT => ChunkIndex::Implicit,
            kind => ChunkIndex::decode_structure(reader, kind)?,
        })
    }

    /// Reads the parameters of an index of this kind that is a structure of its own, whatever its chunks are.
    pub(super) fn decode_structure(reader: &mut Reader<'_>, kind: u8) -> Result<ChunkIndex> {
        Ok(match kind {
            3 => ChunkIndex::FixedArray { page_bits: reader.u8()? },
            4 => {
                let [count_bits, in_index, min_blocks, min_elements, page_bits] = reader.array()?;
                ChunkIndex::ExtensibleArray(ArrayShape { count_bits, in_index, min_blocks, min_elements, page_bits })
            }
            5 => ChunkIndex::BtreeV2 { node_size: reader.u32()?, split: reader.u8()?, merge: reader.u8()? },
            other => return Err(reader.refuse(format!("unknown chunk index {other}"))),
        })
    }

    /// Writes the index of dense chunks, or one that is a structure of its own.
    pub(super) fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        match self {
            ChunkIndex::BtreeV1 => {
                return Err(writer.refuse("index", "the first B-tree has no place from version 4 on"));
            }
            ChunkIndex::Single(None) => writer.u8(SINGLE),
            ChunkIndex::Single(Some(sections)) if sections.is_dense() => {
                writer.u8(SINGLE);
                writer.length("size of the chunk", widths, sections.bytes())?;
                writer.u32(sections.mask());
            }
            ChunkIndex::Single(Some(_)) => return Err(writer.refuse("index", "several sections in a dense chunk")),
            ChunkIndex::Implicit => writer.u8(IMPLICIT),
            ChunkIndex::FixedArray { page_bits } => writer.extend(&[3, *page_bits]),
            ChunkIndex::ExtensibleArray(shape) => {
                writer.extend(&[4, shape.count_bits, shape.in_index]);
                writer.extend(&[shape.min_blocks, shape.min_elements, shape.page_bits]);
            }
            ChunkIndex::BtreeV2 { node_size, split, merge } => {
                writer.u8(5);
                writer.u32(*node_size);
                writer.extend(&[*split, *merge]);
            }
        }
        Ok(())
    }
}
