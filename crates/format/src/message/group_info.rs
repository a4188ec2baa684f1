//! The group info message: when the links of a group move out of the header.
//!
//! ```text
//!  | version 0 | flags | (most in the header, 2 | fewest outside, 2) | (expected links, 2 | expected length of names, 2) |
//! ```

use hyperslab_base::{Reader, Writer};

use crate::Result;

/// Limits of a new-style group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupInfo {
    /// More links than the first number do not lie in the header, fewer than the second move back; if the message says so.
    pub limits: Option<[u16; 2]>,
    /// How many links are expected, and how long their names are; if the message says so.
    pub expected: Option<[u16; 2]>,
}

impl GroupInfo {
    /// More links than this do not lie in the header.
    pub fn max_compact(&self) -> u16 {
        self.limits.map_or(8, |[most, _]| most)
    }

    /// Fewer links than this move back to the header.
    pub fn min_dense(&self) -> u16 {
        self.limits.map_or(6, |[_, fewest]| fewest)
    }

    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<GroupInfo> {
        let mut reader = Reader::new("group info message", bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        let mut pair = |bit: u8| Ok(if flags & bit != 0 { Some([reader.u16()?, reader.u16()?]) } else { None });
        Ok(GroupInfo { limits: pair(1)?, expected: pair(2)? })
    }

    /// Writes the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new("group info message");
        writer.extend(&[0, u8::from(self.limits.is_some()) | u8::from(self.expected.is_some()) << 1]);
        self.limits.iter().chain(&self.expected).flatten().for_each(|&number| writer.u16(number));
        writer.into_bytes()
    }
}
