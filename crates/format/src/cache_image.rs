//! The image of the metadata cache: structures that a program had in its cache when it closed the file. They are newer than what
//! lies at their addresses.
//!
//! ```text
//!  | MDCI | version 0 | flags | length of the entries L | entries, 4 | entry… | checksum, 4 |
//!  entry  | type | flags | ring | age | children, 2 | dirty children, 2 | parents, 2 | rank, 4 | address O | size L | parents O… | bytes |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// A structure of the image: its address and its bytes.
pub type Entry = (u64, Vec<u8>);

/// Reads the image.
pub fn decode(bytes: &[u8], widths: Widths) -> Result<Vec<Entry>> {
    let mut reader = Reader::new("metadata cache image", bytes);
    reader.signature(b"MDCI")?;
    reader.version(0..=0)?;
    reader.sealed(bytes.len())?;
    reader.skip(1)?;
    reader.length(widths)?;
    let count = reader.u32()?;
    (0..count).map(|_| entry(&mut reader, widths)).collect()
}

fn entry(reader: &mut Reader<'_>, widths: Widths) -> Result<Entry> {
    reader.skip(4 + 2 + 2)?;
    let parents = usize::from(reader.u16()?);
    reader.skip(4)?;
    let address = reader.address(widths)?;
    let address = address.ok_or_else(|| reader.refuse("an entry without an address"))?;
    let size = reader.length(widths)?;
    reader.skip(parents * widths.offsets.bytes())?;
    Ok((address, reader.take(usize::try_from(size).unwrap_or(usize::MAX))?.to_vec()))
}
