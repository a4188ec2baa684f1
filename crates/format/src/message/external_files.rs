//! The external data files message: values of a dataset that lie in other files.
//!
//! ```text
//!  | version 1 | 0, 3 | room for slots, 2 | slots, 2 | local heap O | per slot: place of the name L | offset L | size L |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

/// The files that hold a dataset's values, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFiles {
    /// How many slots there is room for; libhdf5 leaves none empty.
    pub room: u16,
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
        reader.skip(3)?;
        let (room, used) = (reader.u16()?, reader.u16()?);
        let heap = reader.address(widths)?;
        let mut slots = Vec::new();
        for _ in 0..used {
            let (name, offset, size) = (reader.length(widths)?, reader.length(widths)?, reader.length(widths)?);
            slots.push(ExternalSlot { name, offset, size: (size != widths.lengths.max()).then_some(size) });
        }
        Ok(ExternalFiles { room, heap, slots })
    }

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("external data files message");
        if self.slots.len() > usize::from(self.room) {
            return Err(writer.refuse("slots", format!("{}, but there is room for {}", self.slots.len(), self.room)));
        }
        writer.extend(&[1, 0, 0, 0]);
        writer.u16(self.room);
        writer.count("slots", Width::W2, self.slots.len())?;
        writer.address("heap", widths, self.heap)?;
        for slot in &self.slots {
            writer.length("name", widths, slot.name)?;
            writer.length("offset", widths, slot.offset)?;
            if slot.size == Some(widths.lengths.max()) {
                return Err(writer.refuse("size", "all ones mean that there is no limit"));
            }
            writer.length("size", widths, slot.size.unwrap_or(widths.lengths.max()))?;
        }
        let empty = usize::from(self.room) - self.slots.len();
        writer.fill_to("slots", writer.position() + empty * 3 * widths.lengths.bytes())?;
        Ok(writer.into_bytes())
    }
}
