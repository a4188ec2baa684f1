//! The link info message: where the links of a new-style group are.
//!
//! ```text
//!  | version 0 | flags | (highest creation order, 8) | heap O | name tree O | (order tree O) |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// Where links are that do not lie in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// Whether links remember the order in which they were made.
    pub tracked: bool,
    /// The fractal heap of the links; undefined if they lie in the header.
    pub heap: Option<u64>,
    /// The B-tree of their names.
    pub names: Option<u64>,
    /// The B-tree of their creation order.
    pub orders: Option<u64>,
}

impl LinkInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<LinkInfo> {
        let mut reader = Reader::new("link info message", bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        if flags & 1 != 0 {
            reader.skip(8)?;
        }
        let (heap, names) = (reader.address(widths)?, reader.address(widths)?);
        let orders = if flags & 2 != 0 { reader.address(widths)? } else { None };
        Ok(LinkInfo { tracked: flags & 1 != 0, heap, names, orders })
    }
}
