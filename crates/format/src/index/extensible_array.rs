//! The extensible array: chunks of a dataset that grows in one dimension.
//!
//! ```text
//!  header  | EAHD | version 0 | client | element size | bits of the count | elements in the index block | least elements of a data block |
//!          | least data blocks of a super block | page bits | super blocks L | their bytes L | data blocks L | their bytes L |
//!          | highest element + 1 L | elements there is room for L | index block O | checksum, 4 |
//!  index   | EAIB | version 0 | client | header O | elements… | data blocks O… | super blocks O… | checksum, 4 |
//!  super   | EASB | version 0 | client | header O | offset | (bitmaps of pages) | data blocks O… | checksum, 4 |
//!  data    | EADB | version 0 | client | header O | offset | elements… | checksum, 4 |
//!  paged   | EADB | version 0 | client | header O | offset | checksum, 4 | then pages: elements… | checksum, 4 |
//! ```

use hyperslab_base::{Reader, Width, Widths};

use super::{
    ChunkElement,
    fixed_array::{client, elements},
};
use crate::{ChunkEntry, Result};

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensibleArray {
    /// Whether chunks are filtered.
    pub filtered: bool,
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
    /// One more than the highest element ever set.
    pub used: u64,
    /// The index block.
    pub index: Option<u64>,
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
        reader.version(0..=0)?;
        let filtered = client(&mut reader)?;
        let [element_size, count_bits, in_index, min_elements, min_blocks, page_bits] = reader.array()?;
        for _ in 0..4 {
            reader.length(widths)?; // statistics
        }
        let used = reader.length(widths)?;
        reader.length(widths)?;
        let index = reader.address(widths)?;
        reader.checksum(bytes)?;
        let powers = min_elements.is_power_of_two() && min_blocks.is_power_of_two();
        let small = min_elements.checked_ilog2().is_some_and(|bits| bits < u32::from(count_bits));
        if !powers || !small || count_bits > 64 || page_bits >= 64 || element_size == 0 {
            return Err(reader.refuse("an array of no possible shape"));
        }
        let array = ExtensibleArray {
            filtered,
            element_size,
            count_bits,
            in_index,
            min_elements,
            min_blocks,
            page_bits,
            used,
            index,
        };
        Ok(array)
    }

    /// The width of an offset into the array.
    pub fn offset_width(&self) -> Width {
        Width::new(self.count_bits.div_ceil(8)).unwrap_or(Width::W8)
    }

    /// How many super blocks there can be.
    pub fn super_blocks(&self) -> u32 {
        1 + u32::from(self.count_bits) - self.min_elements.trailing_zeros()
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
        2 * (u64::from(self.min_blocks) - 1)
    }

    /// Elements in a page.
    pub const fn page(&self) -> u64 {
        1 << self.page_bits
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

/// What the index block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBlock {
    /// The first elements of the array.
    pub elements: Vec<ChunkEntry>,
    /// The data blocks of the first super blocks.
    pub data: Vec<Option<u64>>,
    /// The further super blocks.
    pub supers: Vec<Option<u64>>,
}

/// Reads the index block.
pub fn decode_index(
    bytes: &[u8],
    array: &ExtensibleArray,
    element: ChunkElement,
    widths: Widths,
) -> Result<IndexBlock> {
    let mut reader = Reader::new("extensible array index block", bytes);
    head(&mut reader, b"EAIB", widths)?;
    let elements = (0..array.in_index).map(|_| element.decode(&mut reader, widths)).collect::<Result<_>>()?;
    let data = (0..array.direct_blocks()).map(|_| reader.address(widths)).collect::<Result<_>>()?;
    let supers = (0..array.indirect_super_blocks()).map(|_| reader.address(widths)).collect::<Result<_>>()?;
    reader.checksum(bytes)?;
    Ok(IndexBlock { elements, data, supers })
}

/// Reads a super block: per data block its address and which of its pages were ever written.
pub fn decode_super(
    bytes: &[u8],
    array: &ExtensibleArray,
    block: &SuperBlock,
    widths: Widths,
) -> Result<Vec<(Option<u64>, Vec<bool>)>> {
    let mut reader = Reader::new("extensible array super block", bytes);
    head(&mut reader, b"EASB", widths)?;
    reader.uint(array.offset_width())?;
    let (pages, bitmap) = (array.pages(block.elements) as usize, array.bitmap(block) as usize);
    let mut written = Vec::new();
    for _ in 0..block.blocks {
        let bits = reader.take(bitmap)?.iter().flat_map(|byte| (0..8).map(move |bit| byte & (0x80 >> bit) != 0));
        written.push(bits.take(pages).collect());
    }
    let blocks = written.into_iter().map(|written| Ok((reader.address(widths)?, written))).collect::<Result<_>>()?;
    reader.checksum(bytes)?;
    Ok(blocks)
}

/// Reads all elements of a data block without pages.
pub fn decode_data(
    bytes: &[u8],
    array: &ExtensibleArray,
    count: u64,
    element: ChunkElement,
    widths: Widths,
) -> Result<Vec<ChunkEntry>> {
    let mut reader = Reader::new("extensible array data block", bytes);
    head(&mut reader, b"EADB", widths)?;
    reader.uint(array.offset_width())?;
    elements(reader, bytes, count, element, widths)
}

/// Reads a page of a data block.
pub fn decode_page(
    bytes: &[u8],
    array: &ExtensibleArray,
    element: ChunkElement,
    widths: Widths,
) -> Result<Vec<ChunkEntry>> {
    elements(Reader::new("extensible array page", bytes), bytes, array.page(), element, widths)
}

fn head(reader: &mut Reader<'_>, signature: &[u8; 4], widths: Widths) -> Result<()> {
    reader.signature(signature)?;
    reader.version(0..=0)?;
    client(reader)?;
    reader.address(widths).map(drop)
}
