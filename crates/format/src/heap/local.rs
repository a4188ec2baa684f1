//! The local heap: names of an old group, and of external files.
//!
//! ```text
//!  header      | HEAP | version 0 | 0, 3 | size of data L | first free block L | data O |, padded to 8
//!  free block  | next free block L | size L |, in the data; 1 stands for "no block", since blocks begin at multiples of 8
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// Where a local heap's data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalHeap {
    /// How many bytes of data.
    pub size: u64,
    /// Where the first free block is in the data.
    pub free: Option<u64>,
    /// Where.
    pub data: Option<u64>,
}

/// What stands where no free block follows.
const NO_BLOCK: u64 = 1;

impl LocalHeap {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        (8 + 2 * widths.lengths.bytes() + widths.offsets.bytes()).next_multiple_of(8)
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<LocalHeap> {
        let mut reader = Reader::new("local heap", bytes);
        reader.signature(b"HEAP")?;
        reader.version(0..=0)?;
        reader.skip(3)?;
        let size = reader.length(widths)?;
        let free = reader.length(widths)?;
        Ok(LocalHeap { size, free: place(free, widths), data: reader.address(widths)? })
    }

    /// Writes the header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("local heap");
        writer.extend(b"HEAP");
        writer.zeros(4);
        writer.length("size", widths, self.size)?;
        write_place(&mut writer, "first free block", self.free, widths)?;
        writer.address("data", widths, self.data)?;
        writer.align(8);
        Ok(writer.into_bytes())
    }
}

/// A part of a local heap's data that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeBlock {
    /// Where it begins.
    pub start: u64,
    /// How many bytes.
    pub size: u64,
}

/// Reads the free blocks of a heap's `data`, in the order of the list that begins at `first`.
pub fn decode_free(data: &[u8], first: Option<u64>, widths: Widths) -> Result<Vec<FreeBlock>> {
    let mut blocks = Vec::new();
    let mut next = first;
    while let Some(start) = next {
        let mut reader = Reader::new("free list of a local heap", data);
        reader.skip(usize::try_from(start).unwrap_or(usize::MAX))?;
        next = place(reader.length(widths)?, widths);
        let size = reader.length(widths)?;
        if start.checked_add(size).is_none_or(|end| end > data.len() as u64) {
            return Err(reader.refuse(format!("a free block of {size} bytes at {start} that is not there")));
        }
        blocks.push(FreeBlock { start, size });
        if blocks.len() > data.len() / (2 * widths.lengths.bytes()) {
            return Err(reader.refuse("a list that has no end"));
        }
    }
    Ok(blocks)
}

/// Writes the heads of free blocks into a heap's `data`, as a list in the order given; tells where it begins.
pub fn encode_free(data: &mut [u8], blocks: &[FreeBlock], widths: Widths) -> Encoded<Option<u64>> {
    for (start, head) in encode_heads(data.len() as u64, blocks, widths)? {
        let room = data.get_mut(start as usize..).and_then(|rest| rest.get_mut(..head.len()));
        room.into_iter().for_each(|room| room.copy_from_slice(&head));
    }
    Ok(blocks.first().map(|block| block.start))
}

/// The heads of free blocks in data of `size` bytes, as a list in the order given: where each goes, and its bytes.
pub fn encode_heads(size: u64, blocks: &[FreeBlock], widths: Widths) -> Encoded<Vec<(u64, Vec<u8>)>> {
    let following = blocks.iter().skip(1).map(|next| Some(next.start)).chain([None]);
    let head = |(block, next): (&FreeBlock, Option<u64>)| {
        let mut writer = Writer::new("free list of a local heap");
        write_place(&mut writer, "next free block", next, widths)?;
        writer.length("size", widths, block.size)?;
        let is_inside = block.start.checked_add(block.size).is_some_and(|end| end <= size);
        if !is_inside || block.start == NO_BLOCK || (writer.position() as u64) > block.size {
            let why = format!("{} bytes at {} are no free block", block.size, block.start);
            return Err(writer.refuse("block", why));
        }
        Ok((block.start, writer.into_bytes()))
    };
    blocks.iter().zip(following).map(head).collect()
}

/// The specification has all ones for "no block", libhdf5 has 1.
fn place(stored: u64, widths: Widths) -> Option<u64> {
    (stored != NO_BLOCK && stored != widths.lengths.max()).then_some(stored)
}

fn write_place(writer: &mut Writer, field: &'static str, place: Option<u64>, widths: Widths) -> Encoded<()> {
    match place {
        Some(NO_BLOCK) => Err(writer.refuse(field, "1 means that there is no block")),
        Some(place) if place == widths.lengths.max() => {
            Err(writer.refuse(field, "all ones mean that there is no block"))
        }
        place => writer.length(field, widths, place.unwrap_or(NO_BLOCK)),
    }
}
