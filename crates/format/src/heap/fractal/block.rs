//! The blocks of a fractal heap: indirect ones name others, direct ones hold objects.

use hyperslab_base::{Reader, Widths, Writer};

use super::FractalHeap;
use crate::{Encoded, Result};

/// A child of an indirect block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Where it is; undefined if it does not exist.
    pub address: Option<u64>,
    /// For filtered direct blocks: stored size and filter mask.
    pub filtered: Option<(u64, u32)>,
}

/// How many bytes an indirect block of `rows` rows takes.
pub fn indirect_size(heap: &FractalHeap, rows: u32, widths: Widths) -> usize {
    let width = usize::from(heap.table.width);
    let direct = rows.min(heap.table.direct_rows()) as usize * width;
    let all = rows as usize * width;
    let filtered = if heap.filters.is_some() { widths.lengths.bytes() + 4 } else { 0 };
    block_head(heap, widths) + all * widths.offsets.bytes() + direct * filtered + 4
}

/// Reads the children of an indirect block of `rows` rows, row by row.
pub fn decode_indirect(bytes: &[u8], heap: &FractalHeap, rows: u32, widths: Widths) -> Result<Vec<Child>> {
    let mut reader = Reader::new("fractal heap indirect block", bytes);
    reader.signature(b"FHIB")?;
    reader.version(0..=0)?;
    reader.sealed(indirect_size(heap, rows, widths))?;
    reader.address(widths)?;
    reader.uint(heap.table.offset_width())?;
    let mut children = Vec::new();
    for row in 0..rows {
        let direct = row < heap.table.direct_rows();
        for _ in 0..heap.table.width {
            let address = reader.address(widths)?;
            let filtered = match &heap.filters {
                Some(_) if direct => Some((reader.length(widths)?, reader.u32()?)),
                _ => None,
            };
            children.push(Child { address, filtered });
        }
    }
    Ok(children)
}

/// Writes an indirect block of the heap whose header is at `header`; `offset` is where the block begins in the heap.
pub fn encode_indirect(
    children: &[Child],
    heap: &FractalHeap,
    header: u64,
    offset: u64,
    rows: u32,
    widths: Widths,
) -> Encoded {
    let mut writer = Writer::new("fractal heap indirect block");
    let width = usize::from(heap.table.width);
    if children.len() != rows as usize * width {
        return Err(writer.refuse("children", format!("{} where {rows} rows of {width} belong", children.len())));
    }
    head(&mut writer, b"FHIB", heap, header, offset, widths)?;
    let direct = (heap.table.direct_rows() as usize).saturating_mul(width);
    for (nth, child) in children.iter().enumerate() {
        writer.address("child", widths, child.address)?;
        match child.filtered {
            Some((size, mask)) if heap.filters.is_some() && nth < direct => {
                writer.length("size of a child", widths, size)?;
                writer.u32(mask);
            }
            None if heap.filters.is_none() || nth >= direct => {}
            _ => return Err(writer.refuse("size of a child", "direct blocks of a filtered heap have one, no others")),
        }
    }
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Writes head and checksum of a direct block into `block`, the whole block with room for them in front. The heap's header is at
/// `header`; `offset` is where the block begins in the heap.
pub fn encode_direct(block: &mut [u8], heap: &FractalHeap, header: u64, offset: u64, widths: Widths) -> Encoded<()> {
    let mut writer = Writer::new("fractal heap direct block");
    head(&mut writer, b"FHDB", heap, header, offset, widths)?;
    let place = writer.position();
    if heap.checked_blocks {
        writer.zeros(4);
    }
    let written = writer.position();
    let Some(room) = block.get_mut(..written) else {
        return Err(writer.refuse("block", format!("{} bytes have no room for the head", block.len())));
    };
    room.copy_from_slice(&writer.into_bytes());
    if heap.checked_blocks {
        let sum = hyperslab_base::lookup3(block).to_le_bytes();
        if let Some(field) = block.get_mut(place..written) {
            field.copy_from_slice(&sum);
        }
    }
    Ok(())
}

fn head(
    writer: &mut Writer,
    signature: &[u8; 4],
    heap: &FractalHeap,
    header: u64,
    offset: u64,
    widths: Widths,
) -> Encoded<()> {
    writer.extend(signature);
    writer.u8(0);
    writer.address("header", widths, Some(header))?;
    writer.uint("offset", heap.table.offset_width(), offset)
}

/// Checks the head and, where it has one, the checksum of a direct block.
pub fn check_direct(bytes: &[u8], heap: &FractalHeap, widths: Widths) -> Result<()> {
    let mut reader = Reader::new("fractal heap direct block", bytes);
    reader.signature(b"FHDB")?;
    reader.version(0..=0)?;
    reader.address(widths)?;
    reader.uint(heap.table.offset_width())?;
    if !heap.checked_blocks {
        return Ok(());
    }
    // The checksum covers the block with zeros in its own place.
    let place = reader.position();
    let mut zeroed = bytes.to_vec();
    if let Some(field) = zeroed.get_mut(place..place + 4) {
        field.fill(0);
    }
    reader.checksum_is(hyperslab_base::lookup3(&zeroed))
}

fn block_head(heap: &FractalHeap, widths: Widths) -> usize {
    5 + widths.offsets.bytes() + heap.table.offset_width().bytes()
}
