//! The extensible array: chunks of a dataset that grows in one dimension.
//!
//! ```text
//!  header  | EAHD | version | client | element size | bits of the count | elements in the index block | least elements of a data block |
//!          | least data blocks of a super block | page bits | super blocks L | their bytes L | data blocks L | their bytes L |
//!          | highest element + 1 L | elements there is room for L | index block O | checksum, 4 |
//!  index   | EAIB | version | client | header O | elements… | data blocks O… | super blocks O… | checksum, 4 |
//!  super   | EASB | version | client | header O | offset | (bitmaps of pages) | data blocks O… | checksum, 4 |
//!  data    | EADB | version | client | header O | offset | elements… | checksum, 4 |
//!  paged   | EADB | version | client | header O | offset | checksum, 4 | then pages: elements… | checksum, 4 |
//! ```

mod block;

use hyperslab_base::{Reader, Width, Widths, Writer};

pub use block::{
    IndexBlock, SuperEntries, decode_data, decode_index, decode_page, decode_super, encode_data, encode_index,
    encode_page, encode_paged_head, encode_super,
};

use super::{ChunkElement, Client, VERSIONS};
use crate::{Encoded, Result};

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensibleArray {
    /// The version, of all its blocks too.
    pub version: u8,
    /// What chunks it is for.
    pub client: Client,
    /// How many bytes an element takes.
    pub element_size: u8,
    /// The largest count of elements, as a power of two.
    pub count_bits: u8,
    /// Elements in the index block itself.
    pub in_index: u8,
    /// Elements in the smallest data block.
    pub min_elements: u8,
    /// Data blocks in the smallest super block.
    pub min_blocks: u8,
    /// Elements in a page, as a power of two.
    pub page_bits: u8,
    /// What there is of it.
    pub usage: Usage,
    /// One more than the highest element ever set.
    pub used: u64,
    /// The index block.
    pub index: Option<u64>,
}

/// What there is of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Super blocks that are blocks of their own.
    pub super_blocks: u64,
    /// Their bytes.
    pub super_bytes: u64,
    /// Data blocks.
    pub data_blocks: u64,
    /// Their bytes.
    pub data_bytes: u64,
    /// Elements there is room for, in index and data blocks.
    pub elements: u64,
}

/// A super block of the array: equal data blocks, in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperBlock {
    /// How many data blocks.
    pub blocks: u64,
    /// Elements in each.
    pub elements: u64,
    /// The number of its first element, counted behind those in the index block.
    pub first: u64,
    /// The number of its first data block.
    pub first_block: u64,
}

impl ExtensibleArray {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        12 + 6 * widths.lengths.bytes() + widths.offsets.bytes() + 4
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<ExtensibleArray> {
        let mut reader = Reader::new("extensible array header", bytes);
        reader.signature(b"EAHD")?;
        let version = reader.version(VERSIONS)?;
        reader.sealed(Self::size(widths))?;
        let client = Client::decode(&mut reader)?;
        let [element_size, count_bits, in_index, min_elements, min_blocks, page_bits] = reader.array()?;
        let mut usage = Usage {
            super_blocks: reader.length(widths)?,
            super_bytes: reader.length(widths)?,
            data_blocks: reader.length(widths)?,
            data_bytes: reader.length(widths)?,
            elements: 0,
        };
        let used = reader.length(widths)?;
        usage.elements = reader.length(widths)?;
        let index = reader.address(widths)?;
        let array = ExtensibleArray {
            version,
            client,
            element_size,
            count_bits,
            in_index,
            min_elements,
            min_blocks,
            page_bits,
            usage,
            used,
            index,
        };
        if array.is_possible() { Ok(array) } else { Err(reader.refuse("an array of no possible shape")) }
    }

    /// Writes the header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("extensible array header");
        if !self.is_possible() {
            return Err(writer.refuse("shape", "an array of no possible shape"));
        }
        writer.extend(b"EAHD");
        writer.extend(&[self.version, self.client.id(), self.element_size, self.count_bits, self.in_index]);
        writer.extend(&[self.min_elements, self.min_blocks, self.page_bits]);
        writer.length("super blocks", widths, self.usage.super_blocks)?;
        writer.length("bytes of super blocks", widths, self.usage.super_bytes)?;
        writer.length("data blocks", widths, self.usage.data_blocks)?;
        writer.length("bytes of data blocks", widths, self.usage.data_bytes)?;
        writer.length("highest element", widths, self.used)?;
        writer.length("elements", widths, self.usage.elements)?;
        writer.address("index block", widths, self.index)?;
        writer.checksum();
        Ok(writer.into_bytes())
    }

    fn is_possible(&self) -> bool {
        let powers = self.min_elements.is_power_of_two() && self.min_blocks.is_power_of_two();
        let small = self.min_elements.checked_ilog2().is_some_and(|bits| bits < u32::from(self.count_bits));
        powers && small && self.count_bits <= 64 && self.page_bits < 64 && self.element_size > 0
    }

    /// The width of an offset into the array.
    pub fn offset_width(&self) -> Width {
        Width::new(self.count_bits.div_ceil(8)).unwrap_or(Width::W8)
    }

    /// How many super blocks there can be.
    pub fn super_blocks(&self) -> u32 {
        1 + u32::from(self.count_bits).saturating_sub(self.min_elements.trailing_zeros())
    }

    /// The `nth` super block: sizes of data blocks and their number double in turn.
    pub fn super_block(&self, nth: u32) -> Option<SuperBlock> {
        let (mut first, mut first_block) = (0u64, 0u64);
        for number in 0..=nth {
            let blocks = 1u64.checked_shl(number / 2)?;
            let elements = 1u64.checked_shl(number.div_ceil(2))?.checked_mul(u64::from(self.min_elements))?;
            if number == nth {
                return Some(SuperBlock { blocks, elements, first, first_block });
            }
            first = first.checked_add(blocks.checked_mul(elements)?)?;
            first_block = first_block.checked_add(blocks)?;
        }
        None
    }

    /// How many super blocks have their data blocks named by the index block itself.
    pub fn direct_super_blocks(&self) -> u32 {
        2 * self.min_blocks.trailing_zeros()
    }

    /// How many data blocks the index block names.
    pub fn direct_blocks(&self) -> u64 {
        2 * u64::from(self.min_blocks.saturating_sub(1))
    }

    /// The offset that the `nth` data block of a super block has in its head. Where the index block itself names the data blocks,
    /// libhdf5 counts those of earlier super blocks in once more; no library reads the number.
    pub fn data_offset(&self, nth_super: u32, nth: u64) -> Option<u64> {
        let block = self.super_block(nth_super)?;
        let before = if nth_super < self.direct_super_blocks() { block.first_block } else { 0 };
        before.checked_add(nth)?.checked_mul(block.elements)?.checked_add(block.first)
    }

    /// Elements in a page.
    pub const fn page(&self) -> u64 {
        match 1u64.checked_shl(self.page_bits as u32) {
            Some(elements) => elements,
            None => u64::MAX,
        }
    }

    /// How many pages a data block of `elements` has; none if it holds its elements itself.
    pub const fn pages(&self, elements: u64) -> u64 {
        if elements > self.page() { elements / self.page() } else { 0 }
    }

    /// How many bytes the index block takes.
    pub fn index_size(&self, element: ChunkElement, widths: Widths) -> usize {
        let addresses = self.direct_blocks() as usize + self.indirect_super_blocks() as usize;
        6 + widths.offsets.bytes() * (1 + addresses) + usize::from(self.in_index) * element.size(widths) + 4
    }

    /// How many super blocks are blocks of their own.
    pub fn indirect_super_blocks(&self) -> u32 {
        self.super_blocks().saturating_sub(self.direct_super_blocks())
    }

    /// How many bytes the bitmap of one data block's pages takes.
    fn bitmap(&self, block: &SuperBlock) -> u64 {
        self.pages(block.elements).div_ceil(8)
    }

    /// How many bytes a super block takes.
    pub fn super_size(&self, block: &SuperBlock, widths: Widths) -> u64 {
        let head = 6 + widths.offsets.bytes() as u64 + self.offset_width().bytes() as u64;
        let each = self.bitmap(block).saturating_add(widths.offsets.bytes() as u64);
        block.blocks.saturating_mul(each).saturating_add(head + 4)
    }

    /// How many bytes stand before the elements or pages of a data block, checksum included if it is paged.
    pub fn data_head(&self, elements: u64, widths: Widths) -> u64 {
        let checksum = if self.pages(elements) > 0 { 4 } else { 0 };
        6 + widths.offsets.bytes() as u64 + self.offset_width().bytes() as u64 + checksum
    }
}
