//! The table of shared messages, and the lists that small indexes are.
//!
//! ```text
//!  table   | SMTB | per index: version 0 | kind | types, 2 | least size, 4 | list limit, 2 | tree limit, 2 | messages, 2 | index O | heap O | checksum, 4 |
//!  list    | SMLI | messages… | checksum, 4 |
//!  message | in heap or header | hash, 4 | (heap: references, 4 | heap id, 8) (header: 0 | type | place, 2 | header O) |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// One index of shared messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedIndex {
    /// Whether it is a list; else a B-tree.
    pub is_list: bool,
    /// Which message types it holds, one bit each.
    pub types: u16,
    /// Smaller messages are not shared.
    pub min_size: u32,
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
    let mut table = Vec::with_capacity(usize::from(indexes));
    for _ in 0..indexes {
        reader.version(0..=0)?;
        let is_list = reader.u8()? == 0;
        let (types, min_size) = (reader.u16()?, reader.u32()?);
        reader.skip(4)?; // when a list becomes a tree, and back
        let messages = reader.u16()?;
        let (index, heap) = (reader.address(widths)?, reader.address(widths)?);
        table.push(SharedIndex { is_list, types, min_size, messages, index, heap });
    }
    reader.checksum(bytes)?;
    Ok(table)
}
