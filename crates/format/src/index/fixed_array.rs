//! The fixed array: chunks of a dataset that cannot grow.
//!
//! ```text
//!  header  | FAHD | version | client | element size | page bits | elements L | data block O | checksum, 4 |
//!  data    | FADB | version | client | header O | elements… | checksum, 4 |
//!  paged   | FADB | version | client | header O | bitmap of pages | checksum, 4 | then pages: elements… | checksum, 4 |
//! ```

use hyperslab_base::{Fault, Reader, Widths, Writer};

use super::{ChunkElement, Client, VERSIONS, bitmap};
use crate::{ChunkEntry, Encoded, Result};

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedArray {
    /// The version, of the data block too.
    pub version: u8,
    /// What chunks it is for.
    pub client: Client,
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
        let version = reader.version(VERSIONS)?;
        reader.sealed(Self::size(widths))?;
        let client = Client::decode(&mut reader)?;
        let (element_size, page_bits) = (reader.u8()?, reader.u8()?);
        let elements = reader.length(widths)?;
        let data = reader.address(widths)?;
        if page_bits >= 64 || element_size == 0 {
            return Err(reader.refuse(format!("pages of 2^{page_bits} elements of {element_size} bytes")));
        }
        Ok(FixedArray { version, client, element_size, page_bits, elements, data })
    }

    /// Writes the header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("fixed array header");
        if self.page_bits >= 64 || self.element_size == 0 {
            return Err(writer.refuse("shape", "an array of no possible shape"));
        }
        writer.extend(b"FAHD");
        writer.extend(&[self.version, self.client.id(), self.element_size, self.page_bits]);
        writer.length("elements", widths, self.elements)?;
        writer.address("data block", widths, self.data)?;
        writer.checksum();
        Ok(writer.into_bytes())
    }

    /// Elements in a page.
    pub const fn page(&self) -> u64 {
        match 1u64.checked_shl(self.page_bits as u32) {
            Some(elements) => elements,
            None => u64::MAX,
        }
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
    let length = usize::try_from(array.data_head(widths)).unwrap_or(usize::MAX);
    head(&mut reader, (array.pages() > 0).then_some(length), widths)?;
    if array.pages() == 0 {
        return Ok(Vec::new());
    }
    let bits = reader.take(usize::try_from(array.pages().div_ceil(8)).unwrap_or(usize::MAX))?;
    let bits = bits.iter().flat_map(|byte| (0..8).map(move |bit| byte & (0x80 >> bit) != 0));
    Ok(bits.take(usize::try_from(array.pages()).unwrap_or(usize::MAX)).collect())
}

/// Reads all elements of a data block without pages.
pub fn decode_data(bytes: &[u8], array: &FixedArray, element: ChunkElement, widths: Widths) -> Result<Vec<ChunkEntry>> {
    let mut reader = Reader::new("fixed array data block", bytes);
    head(&mut reader, Some(bytes.len()), widths)?;
    elements(&mut reader, array.elements, element, widths)
}

/// Reads a page of `count` elements.
pub fn decode_page(bytes: &[u8], count: u64, element: ChunkElement, widths: Widths) -> Result<Vec<ChunkEntry>> {
    let mut reader = Reader::new("fixed array page", bytes);
    reader.sealed(bytes.len())?;
    elements(&mut reader, count, element, widths)
}

/// Writes the head of a paged data block, of the array whose header is at `header`: which pages were ever written.
pub fn encode_head(written: &[bool], array: &FixedArray, header: u64, widths: Widths) -> Encoded {
    let mut writer = Writer::new("fixed array data block");
    if array.pages() == 0 || written.len() as u64 != array.pages() {
        return Err(writer.refuse("pages", format!("{} where {} belong", written.len(), array.pages())));
    }
    write_head(&mut writer, array, header, widths)?;
    writer.extend(&bitmap(written));
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Writes a data block without pages, of the array whose header is at `header`.
pub fn encode_data(
    chunks: &[ChunkEntry],
    array: &FixedArray,
    element: ChunkElement,
    header: u64,
    widths: Widths,
) -> Encoded {
    let mut writer = Writer::new("fixed array data block");
    if array.pages() > 0 || chunks.len() as u64 != array.elements {
        return Err(writer.refuse("elements", format!("{} where {} belong", chunks.len(), array.elements)));
    }
    write_head(&mut writer, array, header, widths)?;
    write_elements(writer, chunks, element, widths)
}

/// Writes a page.
pub fn encode_page(chunks: &[ChunkEntry], element: ChunkElement, widths: Widths) -> Encoded {
    write_elements(Writer::new("fixed array page"), chunks, element, widths)
}

pub(super) fn write_elements(
    mut writer: Writer,
    chunks: &[ChunkEntry],
    element: ChunkElement,
    widths: Widths,
) -> Encoded {
    chunks.iter().try_for_each(|chunk| element.encode(&mut writer, chunk, &[], widths))?;
    writer.checksum();
    Ok(writer.into_bytes())
}

fn write_head(writer: &mut Writer, array: &FixedArray, header: u64, widths: Widths) -> Encoded<()> {
    writer.extend(b"FADB");
    writer.extend(&[array.version, array.client.id()]);
    writer.address("header", widths, Some(header))
}

/// Reads elements of a block whose checksum was verified.
pub(super) fn elements(
    reader: &mut Reader<'_>,
    count: u64,
    element: ChunkElement,
    widths: Widths,
) -> Result<Vec<ChunkEntry>> {
    let room = (reader.left() / element.size(widths)) as u64;
    if count > room {
        return Err(reader.refuse_as(Fault::Length, format!("{count} elements, but there are bytes for {room} only")));
    }
    (0..count).map(|_| element.decode(reader, 0, widths)).collect()
}

/// Reads what stands in front, of a block that is `sealed` at this length, if its checksum follows it at all.
fn head(reader: &mut Reader<'_>, sealed: Option<usize>, widths: Widths) -> Result<()> {
    reader.signature(b"FADB")?;
    reader.version(VERSIONS)?;
    sealed.map_or(Ok(()), |length| reader.sealed(length))?;
    Client::decode(reader)?;
    reader.address(widths).map(drop)
}
