//! The link info and the attribute info message: where the links of a new-style group are, and an object's many attributes.
//!
//! ```text
//!  | version 0 | flags | (next creation order, 8 or 2) | heap O | name tree O | (order tree O) |
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// Where the links of a group are that do not lie in its header.
pub type LinkInfo = DenseInfo<i64>;

/// Where the attributes of an object are that do not lie in its header.
pub type AttributeInfo = DenseInfo<u16>;

/// Where links or attributes are that do not lie in the header; `O` counts those that were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseInfo<O> {
    /// Whether they remember the order in which they were made.
    pub tracked: bool,
    /// The order that the next one gets; zero if it is not tracked.
    pub next_order: O,
    /// Whether there is a tree of their creation order, once they do not lie in the header.
    pub indexed: bool,
    /// The fractal heap that has them; undefined if they lie in the header.
    pub heap: Option<u64>,
    /// The B-tree of their names.
    pub names: Option<u64>,
    /// The B-tree of their creation order.
    pub orders: Option<u64>,
}

/// A number in the order in which links or attributes are made.
pub trait CreationOrder: Copy + Default + PartialEq {
    /// The message that has the next one.
    const MESSAGE: &'static str;

    /// Reads one.
    fn read(reader: &mut Reader<'_>) -> Result<Self>;

    /// Writes one.
    fn write(self, writer: &mut Writer);
}

impl CreationOrder for i64 {
    const MESSAGE: &'static str = "link info message";

    fn read(reader: &mut Reader<'_>) -> Result<i64> {
        Ok(reader.u64()?.cast_signed())
    }

    fn write(self, writer: &mut Writer) {
        writer.u64(self.cast_unsigned());
    }
}

impl CreationOrder for u16 {
    const MESSAGE: &'static str = "attribute info message";

    fn read(reader: &mut Reader<'_>) -> Result<u16> {
        reader.u16()
    }

    fn write(self, writer: &mut Writer) {
        writer.u16(self);
    }
}

impl<O: CreationOrder> DenseInfo<O> {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<DenseInfo<O>> {
        let mut reader = Reader::new(O::MESSAGE, bytes);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        let (tracked, indexed) = (flags & 1 != 0, flags & 2 != 0);
        let next_order = if tracked { O::read(&mut reader)? } else { O::default() };
        let (heap, names) = (reader.address(widths)?, reader.address(widths)?);
        let orders = if indexed { reader.address(widths)? } else { None };
        Ok(DenseInfo { tracked, next_order, indexed, heap, names, orders })
    }

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new(O::MESSAGE);
        writer.extend(&[0, u8::from(self.tracked) | u8::from(self.indexed) << 1]);
        if self.tracked {
            self.next_order.write(&mut writer);
        } else if self.next_order != O::default() {
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
