//! The local heap: names of an old group, and of external files.
//!
//! ```text
//!  | HEAP | version 0 | 0, 3 | size of data L | first free block L | data O |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// Where a local heap's data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalHeap {
    /// How many bytes of data.
    pub size: u64,
    /// Where.
    pub data: Option<u64>,
}

impl LocalHeap {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        8 + 2 * widths.lengths.bytes() + widths.offsets.bytes()
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<LocalHeap> {
        let mut reader = Reader::new("local heap", bytes);
        reader.signature(b"HEAP")?;
        reader.version(0..=0)?;
        reader.skip(3)?;
        let size = reader.length(widths)?;
        reader.length(widths)?; // the free list matters to writers only
        Ok(LocalHeap { size, data: reader.address(widths)? })
    }
}
