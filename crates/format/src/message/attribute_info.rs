//! The attribute info message: where an object's many attributes are.
//!
//! ```text
//!  | version 0 | flags | (highest creation order, 2) | heap O | name tree O | (order tree O) |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// Where attributes are that do not lie in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeInfo {
    /// Whether attributes remember the order in which they were made.
    pub tracked: bool,
    /// The fractal heap of the attributes.
    pub heap: Option<u64>,
    /// The B-tree of their names.
    pub names: Option<u64>,
}

impl AttributeInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<AttributeInfo> {
        let mut reader = Reader::new("attribute info message", bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        if flags & 1 != 0 {
            reader.skip(2)?;
        }
        Ok(AttributeInfo { tracked: flags & 1 != 0, heap: reader.address(widths)?, names: reader.address(widths)? })
    }
}
