//! The group info message: when the links of a group move out of the header.
//!
//! ```text
//!  | version 0 | flags | (most in the header, 2 | fewest outside, 2) | (expected links, 2 | expected length of names, 2) |
//! ```

use hyperslab_base::Reader;

use crate::Result;

/// Limits of a new-style group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    /// More links than this do not lie in the header.
    pub max_compact: u16,
    /// Fewer links than this move back to the header.
    pub min_dense: u16,
}

impl GroupInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<GroupInfo> {
        let mut reader = Reader::new("group info message", bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        let (max_compact, min_dense) = if flags & 1 != 0 { (reader.u16()?, reader.u16()?) } else { (8, 6) };
        Ok(GroupInfo { max_compact, min_dense })
    }
}
