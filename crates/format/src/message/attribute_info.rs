//! The attribute info message: where an object's many attributes are.
//!
//! ```text
//!  | version 0 | flags | (highest creation order, 2) | heap O | name tree O | (order tree O) |
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// Where attributes are that do not lie in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeInfo {
    /// Whether attributes remember the order in which they were made.
    pub tracked: bool,
    /// The order that the next attribute gets; zero if it is not tracked.
    pub next_order: u16,
    /// Whether there is a tree of their creation order.
    pub indexed: bool,
    /// The fractal heap of the attributes.
    pub heap: Option<u64>,
    /// The B-tree of their names.
    pub names: Option<u64>,
    /// The B-tree of their creation order.
    pub orders: Option<u64>,
}

impl AttributeInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<AttributeInfo> {
        let mut reader = Reader::new("attribute info message", bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        let (tracked, indexed) = (flags & 1 != 0, flags & 2 != 0);
        let next_order = if tracked { reader.u16()? } else { 0 };
        let (heap, names) = (reader.address(widths)?, reader.address(widths)?);
        let orders = if indexed { reader.address(widths)? } else { None };
        Ok(AttributeInfo { tracked, next_order, indexed, heap, names, orders })
    }

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("attribute info message");
        writer.extend(&[0, u8::from(self.tracked) | u8::from(self.indexed) << 1]);
        if self.tracked {
            writer.u16(self.next_order);
        } else if self.next_order != 0 {
            return Err(writer.refuse("creation order", "it is not tracked"));
        }
        writer.address("heap", widths, self.heap)?;
        writer.address("name tree", widths, self.names)?;
        if self.indexed {
            writer.address("order tree", widths, self.orders)?;
        } else if self.orders.is_some() {
            return Err(writer.refuse("order tree", "the order is not indexed"));
        }
        Ok(writer.into_bytes())
    }
}
