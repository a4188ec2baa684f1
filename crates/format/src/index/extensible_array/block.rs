//! The blocks of an extensible array.

use hyperslab_base::{Reader, Widths, Writer};

use super::{
    super::{
        ChunkElement, Client, VERSIONS, bitmap,
        fixed_array::{elements, write_elements},
    },
    ExtensibleArray, SuperBlock,
};
use crate::{ChunkEntry, Encoded, Result};

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
    let elements = (0..array.in_index).map(|_| element.decode(&mut reader, 0, widths)).collect::<Result<_>>()?;
    let data = (0..array.direct_blocks()).map(|_| reader.address(widths)).collect::<Result<_>>()?;
    let supers = (0..array.indirect_super_blocks()).map(|_| reader.address(widths)).collect::<Result<_>>()?;
    Ok(IndexBlock { elements, data, supers })
}

/// Per data block of a super block: its address and which of its pages were ever written.
pub type SuperEntries = Vec<(Option<u64>, Vec<bool>)>;

/// Reads a super block.
pub fn decode_super(bytes: &[u8], array: &ExtensibleArray, block: &SuperBlock, widths: Widths) -> Result<SuperEntries> {
    let mut reader = Reader::new("extensible array super block", bytes);
    head(&mut reader, b"EASB", widths)?;
    reader.uint(array.offset_width())?;
    // There are whole bytes for each data block, but the bits of all blocks follow each other without a gap.
    let bitmap = array.bitmap(block).checked_mul(block.blocks).and_then(|size| usize::try_from(size).ok());
    let bits = reader.take(bitmap.unwrap_or(usize::MAX))?;
    let mut bits = bits.iter().flat_map(|byte| (0..8).map(move |bit| byte & (0x80 >> bit) != 0));
    let pages = array.pages(block.elements) as usize;
    let mut blocks = Vec::new();
    for _ in 0..block.blocks {
        blocks.push((reader.address(widths)?, bits.by_ref().take(pages).collect()));
    }
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
    elements(&mut reader, count, element, widths)
}

/// Reads a page of a data block.
pub fn decode_page(
    bytes: &[u8],
    array: &ExtensibleArray,
    element: ChunkElement,
    widths: Widths,
) -> Result<Vec<ChunkEntry>> {
    let mut reader = Reader::new("extensible array page", bytes);
    reader.sealed(bytes.len())?;
    elements(&mut reader, array.page(), element, widths)
}

/// Reads what stands in front of a block that ends with its checksum, and verifies that.
fn head(reader: &mut Reader<'_>, signature: &[u8; 4], widths: Widths) -> Result<()> {
    reader.signature(signature)?;
    reader.version(VERSIONS)?;
    reader.sealed(reader.position() + reader.left())?;
    Client::decode(reader)?;
    reader.address(widths).map(drop)
}

/// Writes the index block of the array whose header is at `header`.
pub fn encode_index(
    index: &IndexBlock,
    array: &ExtensibleArray,
    element: ChunkElement,
    header: u64,
    widths: Widths,
) -> Encoded {
    let mut writer = Writer::new("extensible array index block");
    let wanted = (u64::from(array.in_index), array.direct_blocks(), u64::from(array.indirect_super_blocks()));
    let given = (index.elements.len() as u64, index.data.len() as u64, index.supers.len() as u64);
    if wanted != given {
        return Err(writer.refuse("elements, data blocks, super blocks", format!("{given:?} where {wanted:?} belong")));
    }
    write_head(&mut writer, b"EAIB", array, header, widths)?;
    index.elements.iter().try_for_each(|chunk| element.encode(&mut writer, chunk, &[], widths))?;
    index.data.iter().try_for_each(|block| writer.address("data block", widths, *block))?;
    index.supers.iter().try_for_each(|block| writer.address("super block", widths, *block))?;
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Writes a super block of the array whose header is at `header`.
pub fn encode_super(
    entries: &[(Option<u64>, Vec<bool>)],
    array: &ExtensibleArray,
    block: &SuperBlock,
    header: u64,
    widths: Widths,
) -> Encoded {
    let mut writer = Writer::new("extensible array super block");
    if entries.len() as u64 != block.blocks {
        return Err(writer.refuse("data blocks", format!("{} where {} belong", entries.len(), block.blocks)));
    }
    write_head(&mut writer, b"EASB", array, header, widths)?;
    writer.uint("offset", array.offset_width(), block.first)?;
    let pages = array.pages(block.elements);
    if let Some((_, written)) = entries.iter().find(|(_, written)| written.len() as u64 != pages) {
        return Err(writer.refuse("pages", format!("{} where {pages} belong", written.len())));
    }
    let end = array.bitmap(block).saturating_mul(block.blocks).saturating_add(writer.position() as u64);
    let bits: Vec<bool> = entries.iter().flat_map(|(_, written)| written.iter().copied()).collect();
    writer.extend(&bitmap(&bits));
    writer.fill_to("pages", usize::try_from(end).unwrap_or(usize::MAX))?;
    entries.iter().try_for_each(|(block, _)| writer.address("data block", widths, *block))?;
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Writes a data block without pages, of the array whose header is at `header`; `offset` comes from
/// [`ExtensibleArray::data_offset`].
pub fn encode_data(
    chunks: &[ChunkEntry],
    array: &ExtensibleArray,
    element: ChunkElement,
    offset: u64,
    header: u64,
    widths: Widths,
) -> Encoded {
    let mut writer = Writer::new("extensible array data block");
    write_head(&mut writer, b"EADB", array, header, widths)?;
    writer.uint("offset", array.offset_width(), offset)?;
    write_elements(writer, chunks, element, widths)
}

/// Writes what stands before the pages of a data block.
pub fn encode_paged_head(array: &ExtensibleArray, offset: u64, header: u64, widths: Widths) -> Encoded {
    let mut writer = Writer::new("extensible array data block");
    write_head(&mut writer, b"EADB", array, header, widths)?;
    writer.uint("offset", array.offset_width(), offset)?;
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Writes a page of a data block.
pub fn encode_page(chunks: &[ChunkEntry], array: &ExtensibleArray, element: ChunkElement, widths: Widths) -> Encoded {
    let writer = Writer::new("extensible array page");
    if chunks.len() as u64 != array.page() {
        return Err(writer.refuse("elements", format!("{} where {} belong", chunks.len(), array.page())));
    }
    write_elements(writer, chunks, element, widths)
}

fn write_head(
    writer: &mut Writer,
    signature: &[u8; 4],
    array: &ExtensibleArray,
    header: u64,
    widths: Widths,
) -> Encoded<()> {
    writer.extend(signature);
    writer.extend(&[array.version, array.client.id()]);
    writer.address("header", widths, Some(header))
}
