//! The fixed array: chunks of a dataset that cannot grow.
//!
//! ```text
//!  header  | FAHD | version 0 | client | element size | page bits | elements L | data block O | checksum, 4 |
//!  data    | FADB | version 0 | client | header O | elements… | checksum, 4 |
//!  paged   | FADB | version 0 | client | header O | bitmap of pages | checksum, 4 | then pages: elements… | checksum, 4 |
//! ```

use hyperslab_base::{Reader, Widths};

use super::ChunkElement;
use crate::{ChunkEntry, Result};

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedArray {
    /// Whether chunks are filtered.
    pub filtered: bool,
    /// How many bytes an element takes.
    pub element_size: u8,
    /// Elements in a page, as a power of two.
    pub page_bits: u8,
    /// How many elements.
    pub elements: u64,
    /// The data block.
    pub data: Option<u64>,
}

impl FixedArray {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        8 + widths.lengths.bytes() + widths.offsets.bytes() + 4
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<FixedArray> {
        let mut reader = Reader::new("fixed array header", bytes);
        reader.signature(b"FAHD")?;
        reader.version(0..=0)?;
        let filtered = client(&mut reader)?;
        let (element_size, page_bits) = (reader.u8()?, reader.u8()?);
        let elements = reader.length(widths)?;
        let data = reader.address(widths)?;
        reader.checksum(bytes)?;
        if page_bits >= 64 || element_size == 0 {
            return Err(reader.refuse(format!("pages of 2^{page_bits} elements of {element_size} bytes")));
        }
        Ok(FixedArray { filtered, element_size, page_bits, elements, data })
    }

    /// Elements in a page.
    pub const fn page(&self) -> u64 {
        1 << self.page_bits
    }

    /// How many pages there are; none if the data block holds the elements itself.
    pub const fn pages(&self) -> u64 {
        if self.elements > self.page() { self.elements.div_ceil(self.page()) } else { 0 }
    }

    /// How many bytes stand before the elements or pages of the data block, checksum included if it is paged.
    pub fn data_head(&self, widths: Widths) -> u64 {
        let paged = if self.pages() > 0 { self.pages().div_ceil(8) + 4 } else { 0 };
        6 + widths.offsets.bytes() as u64 + paged
    }
}

/// Reads the head of a data block; for a paged one, tells which pages were ever written.
pub fn decode_head(bytes: &[u8], array: &FixedArray, widths: Widths) -> Result<Vec<bool>> {
    let mut reader = Reader::new("fixed array data block", bytes);
    head(&mut reader, widths)?;
    if array.pages() == 0 {
        return Ok(Vec::new());
    }
    let bits = reader.take(usize::try_from(array.pages().div_ceil(8)).unwrap_or(usize::MAX))?;
    reader.checksum(bytes)?;
    let bits = bits.iter().flat_map(|byte| (0..8).map(move |bit| byte & (0x80 >> bit) != 0));
    Ok(bits.take(usize::try_from(array.pages()).unwrap_or(usize::MAX)).collect())
}

/// Reads all elements of a data block without pages.
pub fn decode_data(bytes: &[u8], array: &FixedArray, element: ChunkElement, widths: Widths) -> Result<Vec<ChunkEntry>> {
    let mut reader = Reader::new("fixed array data block", bytes);
    head(&mut reader, widths)?;
    elements(reader, bytes, array.elements, element, widths)
}

/// Reads a page of `count` elements.
pub fn decode_page(bytes: &[u8], count: u64, element: ChunkElement, widths: Widths) -> Result<Vec<ChunkEntry>> {
    elements(Reader::new("fixed array page", bytes), bytes, count, element, widths)
}

pub(super) fn elements(
    mut reader: Reader<'_>,
    bytes: &[u8],
    count: u64,
    element: ChunkElement,
    widths: Widths,
) -> Result<Vec<ChunkEntry>> {
    let room = (reader.left() / element.size(widths)) as u64;
    if count > room {
        return Err(reader.refuse(format!("{count} elements, but there are bytes for {room} only")));
    }
    let entries = (0..count).map(|_| element.decode(&mut reader, widths)).collect::<Result<_>>()?;
    reader.checksum(bytes)?;
    Ok(entries)
}

/// Whether the array holds filtered chunks.
pub(super) fn client(reader: &mut Reader<'_>) -> Result<bool> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(reader.refuse(format!("unknown client {other}"))),
    }
}

fn head(reader: &mut Reader<'_>, widths: Widths) -> Result<()> {
    reader.signature(b"FADB")?;
    reader.version(0..=0)?;
    client(reader)?;
    reader.address(widths).map(drop)
}
