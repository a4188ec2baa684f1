//! A message that is somewhere else.
//!
//! ```text
//!  1  | version 1 | type | 0, 6 | place of a name L | header O |
//!  2  | version 2 | type | header O |
//!  3  | version 3 | type | heap id, 8, or header O |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// Where the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// In the heap of shared messages, under this id.
    Heap([u8; 8]),
    /// In the object header of a committed datatype.
    Committed(u64),
}

impl Shared {
    /// Reads the body of a message whose flags say that it is shared, and how many bytes it took.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<(Shared, usize)> {
        let mut reader = Reader::new("shared message", bytes);
        let version = reader.version(1..=3)?;
        let kind = reader.u8()?;
        if version == 1 {
            // What follows is the front of a symbol table entry; its name means nothing here.
            reader.skip(6)?;
            reader.length(widths)?;
        }
        let shared = if version == 3 && kind == 1 {
            Shared::Heap(reader.array()?)
        } else {
            let address = reader.address(widths)?;
            Shared::Committed(address.ok_or_else(|| reader.refuse("a shared message without an address"))?)
        };
        Ok((shared, reader.position()))
    }
}
