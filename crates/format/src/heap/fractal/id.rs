//! Ids of objects in a fractal heap.
//!
//! ```text
//!  managed  | version and kind | offset | length | 0… |
//!  huge     | version and kind | number | 0… |, or if the id has room: | version and kind | O | L | (filters: mask, 4 | real size L) | 0… |
//!  tiny     | version, kind, length - 1 | (more length) | bytes | 0… |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use super::FractalHeap;
use crate::{Encoded, Result};

/// Where an object of the heap is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeapId {
    /// In a direct block.
    Managed {
        /// Where, counted from the front of the heap.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
    /// Alone; its number in the tree of huge objects.
    Huge(u64),
    /// Alone; the id itself says where.
    HugeDirect(Huge),
    /// In the id.
    Tiny(Vec<u8>),
}

/// Where an object lies that lies alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Huge {
    /// Where.
    pub address: u64,
    /// How many bytes are stored.
    pub length: u64,
    /// If the heap has filters: which were skipped, and how many bytes the object really has.
    pub filtered: Option<(u32, u64)>,
}

const MANAGED: u8 = 0;
const HUGE: u8 = 1;
const TINY: u8 = 2;
const WHAT: &str = "fractal heap id";
/// The longest object whose length the first byte of an id can hold.
const SHORT: usize = 16;

impl Huge {
    /// How many bytes these fields take.
    pub const fn size(filtered: bool, widths: Widths) -> usize {
        let plain = widths.offsets.bytes() + widths.lengths.bytes();
        if filtered { plain + 4 + widths.lengths.bytes() } else { plain }
    }

    /// Reads the fields, as ids and B-tree records have them.
    pub fn decode(reader: &mut Reader<'_>, filtered: bool, widths: Widths) -> Result<Huge> {
        let address = reader.address(widths)?;
        let address = address.ok_or_else(|| reader.refuse("a huge object without an address"))?;
        let length = reader.length(widths)?;
        let filtered = if filtered { Some((reader.u32()?, reader.length(widths)?)) } else { None };
        Ok(Huge { address, length, filtered })
    }

    /// Writes the fields.
    pub fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        writer.address("address of a huge object", widths, Some(self.address))?;
        writer.length("length of a huge object", widths, self.length)?;
        if let Some((mask, size)) = self.filtered {
            writer.u32(mask);
            writer.length("size of a huge object", widths, size)?;
        }
        Ok(())
    }
}

impl FractalHeap {
    /// How wide lengths are in ids of managed objects.
    pub fn length_width(&self) -> Width {
        let bits = self.table.max_direct.checked_ilog2().unwrap_or(0);
        let by_block = Width::new(bits.div_ceil(8).max(1) as u8).unwrap_or(Width::W8);
        by_block.min(Width::of(u64::from(self.max_managed)))
    }

    /// Whether ids of huge objects have room to say where they are.
    pub const fn huge_direct(&self, widths: Widths) -> bool {
        self.id_len as usize > Huge::size(self.filters.is_some(), widths)
    }

    /// How wide the numbers of huge objects are in ids.
    fn number_width(&self) -> Option<Width> {
        Width::new(self.id_len.saturating_sub(1).min(8) as u8)
    }

    /// Whether the length of a tiny object takes a second byte.
    const fn long_tiny(&self) -> bool {
        self.id_len as usize > SHORT + 2
    }
}

impl HeapId {
    /// Reads an id.
    pub fn decode(id: &[u8], heap: &FractalHeap, widths: Widths) -> Result<HeapId> {
        let mut reader = Reader::new(WHAT, id);
        let first = reader.u8()?;
        if first >> 6 != 0 {
            return Err(reader.refuse(format!("unknown version {}", first >> 6)));
        }
        Ok(match first >> 4 & 3 {
            MANAGED => {
                let offset = reader.uint(heap.table.offset_width())?;
                HeapId::Managed { offset, length: reader.uint(heap.length_width())? }
            }
            HUGE if heap.huge_direct(widths) => {
                HeapId::HugeDirect(Huge::decode(&mut reader, heap.filters.is_some(), widths)?)
            }
            HUGE => {
                let width = heap.number_width().ok_or_else(|| reader.refuse("an id without room"))?;
                HeapId::Huge(reader.uint(width)?)
            }
            TINY => {
                let mut length = usize::from(first & 0x0f);
                if heap.long_tiny() {
                    length = length << 8 | usize::from(reader.u8()?);
                }
                HeapId::Tiny(reader.take(length + 1)?.to_vec())
            }
            kind => return Err(reader.refuse(format!("unknown kind {kind}"))),
        })
    }

    /// Writes an id.
    pub fn encode(&self, heap: &FractalHeap, widths: Widths) -> Encoded {
        let mut writer = Writer::new(WHAT);
        match self {
            HeapId::Managed { offset, length } => {
                writer.u8(MANAGED << 4);
                writer.uint("offset", heap.table.offset_width(), *offset)?;
                writer.uint("length", heap.length_width(), *length)?;
            }
            HeapId::Huge(number) => {
                let width = heap.number_width().filter(|_| !heap.huge_direct(widths));
                let width =
                    width.ok_or_else(|| writer.refuse("number", "this heap has no numbers for huge objects"))?;
                writer.u8(HUGE << 4);
                writer.uint("number", width, *number)?;
            }
            HeapId::HugeDirect(huge) => {
                if !heap.huge_direct(widths) || huge.filtered.is_some() != heap.filters.is_some() {
                    return Err(writer.refuse("huge object", "ids of this heap do not say this of huge objects"));
                }
                writer.u8(HUGE << 4);
                huge.encode(&mut writer, widths)?;
            }
            HeapId::Tiny(bytes) => {
                let most = if heap.long_tiny() { 1 << 12 } else { SHORT };
                let Some(length) = bytes.len().checked_sub(1).filter(|length| *length < most) else {
                    return Err(writer.refuse("tiny object", format!("{} bytes, where 1 to {most} fit", bytes.len())));
                };
                if heap.long_tiny() {
                    writer.extend(&[TINY << 4 | (length >> 8) as u8, length as u8]);
                } else {
                    writer.u8(TINY << 4 | length as u8);
                }
                writer.extend(bytes);
            }
        }
        writer.fill_to("id", usize::from(heap.id_len))?;
        Ok(writer.into_bytes())
    }
}
