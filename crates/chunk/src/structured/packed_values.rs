//! Values one after the other, and what is of variable length in them.
//!
//! ```text
//!  fixed   | element | element | element |      a slot of an element: offset 8 | bytes 8
//!  heap    | segment | segment | …              the offset counts from four bytes before the heap, as in the file
//! ```
//!
//! A slot whose offset is zero has no segment. Each segment belongs to one slot, so values take their segments with them wherever they go.

use hyperslab_base::memory;

use crate::{Error, Result};

/// The bytes of a slot.
const SLOT: usize = 16;

/// The bytes before the segments, in the file.
pub(super) const BEFORE: u64 = 4;

/// What an element is: its bytes, and where its slots are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementShape {
    /// The bytes of an element.
    pub size: usize,
    /// The first byte of each slot, rising.
    pub slots: Vec<usize>,
}

impl ElementShape {
    /// Elements of so many bytes, none of them of variable length.
    pub fn fixed(size: usize) -> ElementShape {
        ElementShape { size, slots: Vec::new() }
    }
}

/// Values, with all segments that their slots name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedValues<'a> {
    pub(crate) fixed: &'a [u8],
    pub(crate) heap: &'a [u8],
}

/// Values that left their chunk.
#[derive(Debug, Default)]
pub(crate) struct OwnValues {
    fixed: Vec<u8>,
    heap: Vec<u8>,
}

impl OwnValues {
    /// Adds values behind the others, with all segments that their slots name.
    pub(crate) fn append(&mut self, values: PackedValues<'_>, shape: &ElementShape) -> Result<()> {
        values.append_to(shape, &mut self.fixed, &mut self.heap)
    }

    pub(crate) fn values(&self) -> PackedValues<'_> {
        PackedValues { fixed: &self.fixed, heap: &self.heap }
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.fixed.len() + self.heap.len()
    }

    pub(crate) fn clear(&mut self) {
        self.fixed.clear();
        self.heap.clear();
    }
}

impl From<Vec<u8>> for OwnValues {
    /// Values of which nothing is of variable length.
    fn from(fixed: Vec<u8>) -> OwnValues {
        OwnValues { fixed, heap: Vec::new() }
    }
}

impl<'a> PackedValues<'a> {
    /// The first so many elements, and the others.
    pub(super) fn split_at(self, elements: usize, shape: &ElementShape) -> Option<(Self, Self)> {
        let (now, later) = self.fixed.split_at_checked(elements.checked_mul(shape.size)?)?;
        Some((PackedValues { fixed: now, ..self }, PackedValues { fixed: later, ..self }))
    }

    /// So many elements from one on.
    pub(crate) fn part(self, first: usize, elements: usize, shape: &ElementShape) -> Option<PackedValues<'a>> {
        let start = first.checked_mul(shape.size)?;
        let fixed = self.fixed.get(start..start.checked_add(elements.checked_mul(shape.size)?)?)?;
        Some(PackedValues { fixed, ..self })
    }

    /// The bytes of all segments that slots name; an error names a slot that lies outside of the heap.
    pub(super) fn heap_bytes(self, shape: &ElementShape) -> Result<u64> {
        if shape.slots.is_empty() {
            return Ok(0);
        }
        let mut bytes = 0u64;
        for element in self.fixed.chunks_exact(shape.size.max(1)) {
            for slot in &shape.slots {
                bytes = bytes.saturating_add(self.segment(element, *slot)?.map_or(0, <[u8]>::len) as u64);
            }
        }
        Ok(bytes)
    }

    /// How many elements, one at least if there are some, have no more than so many bytes with their segments.
    pub(super) fn fitting(self, bytes: usize, shape: &ElementShape) -> Result<usize> {
        let (mut left, mut count) = (bytes, 0);
        for element in self.fixed.chunks_exact(shape.size.max(1)) {
            let mut needed = shape.size;
            for slot in &shape.slots {
                needed = needed.saturating_add(self.segment(element, *slot)?.map_or(0, <[u8]>::len));
            }
            if needed > left && count > 0 {
                break;
            }
            (left, count) = (left.saturating_sub(needed), count + 1);
        }
        Ok(count)
    }

    /// The segment that a slot of an element names.
    fn segment(self, element: &[u8], slot: usize) -> Result<Option<&'a [u8]>> {
        let (offset, bytes) = read_slot(element, slot).ok_or_else(|| outside(0, 0))?;
        if offset == 0 {
            return if bytes == 0 { Ok(None) } else { Err(outside(offset, bytes)) };
        }
        let range = || {
            let start = usize::try_from(offset.checked_sub(BEFORE)?).ok()?;
            self.heap.get(start..start.checked_add(usize::try_from(bytes).ok()?)?)
        };
        range().map(Some).ok_or_else(|| outside(offset, bytes))
    }

    /// Adds the values to others, their segments to `heap`.
    pub(super) fn append_to(self, shape: &ElementShape, fixed: &mut Vec<u8>, heap: &mut Vec<u8>) -> Result<()> {
        let first = fixed.len();
        memory::append(fixed, self.fixed)?;
        self.move_segments(shape, fixed.get_mut(first..).unwrap_or_default(), heap)
    }

    /// Copies the values to places that have as many bytes, and adds their segments to `heap`.
    pub(super) fn copy_to(self, shape: &ElementShape, places: &mut [u8], heap: &mut Vec<u8>) -> Result<()> {
        if places.len() != self.fixed.len() {
            return Err(outside(0, places.len() as u64));
        }
        places.copy_from_slice(self.fixed);
        self.move_segments(shape, places, heap)
    }

    /// Lets copies of the values name their segments in another heap, to which they are added. Segments that follow each other come at once.
    fn move_segments(self, shape: &ElementShape, copies: &mut [u8], heap: &mut Vec<u8>) -> Result<()> {
        if shape.slots.is_empty() {
            return Ok(());
        }
        // What follows each other and is not added yet.
        let mut waiting = 0..0;
        for copy in copies.chunks_exact_mut(shape.size.max(1)) {
            for slot in &shape.slots {
                let Some(segment) = self.segment(copy, *slot)? else { continue };
                let (offset, bytes) = read_slot(copy, *slot).unwrap_or_default();
                let start = (offset - BEFORE) as usize;
                if waiting.end != start {
                    memory::append(heap, self.heap.get(waiting).unwrap_or_default())?;
                    waiting = start..start;
                }
                let moved = heap.len() as u64 + waiting.len() as u64 + BEFORE;
                waiting.end += segment.len();
                write_slot(copy, *slot, (moved, bytes)).ok_or_else(|| outside(offset, bytes))?;
            }
        }
        Ok(memory::append(heap, self.heap.get(waiting).unwrap_or_default())?)
    }
}

fn read_slot(element: &[u8], slot: usize) -> Option<(u64, u64)> {
    let (offset, rest) = element.get(slot..slot + SLOT)?.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*offset), u64::from_le_bytes(*rest.first_chunk::<8>()?)))
}

fn write_slot(element: &mut [u8], slot: usize, (offset, bytes): (u64, u64)) -> Option<()> {
    let (first, second) = element.get_mut(slot..slot + SLOT)?.split_first_chunk_mut::<8>()?;
    *first = offset.to_le_bytes();
    second.copy_from_slice(&bytes.to_le_bytes());
    Some(())
}

fn outside(offset: u64, bytes: u64) -> Error {
    Error::Layout(format!("a value has {bytes} bytes at {offset}, outside of what is of variable length in the chunk"))
}
