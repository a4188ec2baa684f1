//! The external data files message: values of a dataset that lie in other files.
//!
//! ```text
//!  | version 1 | 0, 3 | room for slots, 2 | slots, 2 | local heap O | per slot: place of the name L | offset L | size L |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// The files that hold a dataset's values, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The local heap of the names.
    pub heap: Option<u64>,
    /// The files in order.
    pub slots: Vec<ExternalSlot>,
}

/// A part of an external file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalSlot {
    /// Where the name is in the heap.
    pub name: u64,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; `None` for as many as there are.
    pub size: Option<u64>,
}

impl ExternalFiles {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<ExternalFiles> {
        let mut reader = Reader::new("external data files message", bytes);
        reader.version(1..=1)?;
        reader.skip(5)?;
        let used = reader.u16()?;
        let heap = reader.address(widths)?;
        let mut slots = Vec::new();
        for _ in 0..used {
            let (name, offset, size) = (reader.length(widths)?, reader.length(widths)?, reader.length(widths)?);
            slots.push(ExternalSlot { name, offset, size: (size != widths.lengths.max()).then_some(size) });
        }
        Ok(ExternalFiles { heap, slots })
    }
}
