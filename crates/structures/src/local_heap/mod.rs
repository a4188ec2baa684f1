//! The local heap: the names of an old-style group.

mod change;
mod free;

use std::{cmp::Ordering, sync::Arc};

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::heap::{self, local::FreeBlock};

use crate::ranges::Ranges;

const WHAT: &str = "local heap";

/// A local heap with its data, as it was when it was opened. Whoever changes it opens it in the same operation.
///
/// If the data follow the header in the file, both are one block, which is written as a whole. Else new names go into bytes that nothing in the file names, the
/// data are written before the header, and the list of free bytes is not in the file meanwhile.
#[derive(Clone, Debug)]
pub struct LocalHeap {
    address: u64,
    data: Data,
    place: Option<u64>,
    free: Option<u64>,
}

/// The data of a heap, shared with the block that they are in.
#[derive(Clone, Debug, Default)]
struct Data {
    block: Option<Arc<Vec<u8>>>,
    /// Where they begin and end in it.
    start: usize,
    end: usize,
}

impl Data {
    fn get(&self) -> &[u8] {
        self.block.as_ref().and_then(|block| block.get(self.start..self.end)).unwrap_or_default()
    }

    fn len(&self) -> u64 {
        (self.end - self.start) as u64
    }
}

impl LocalHeap {
    /// Reads the heap.
    pub fn open(file: &OpenFile, address: u64) -> Result<LocalHeap> {
        let block = file.view(WHAT, address, head_size(file))?;
        let head = heap::LocalHeap::decode(&block, file.widths()).map_err(Error::at(address))?;
        let heap = LocalHeap { address, data: Data::default(), place: head.data, free: head.free };
        heap.with_data(file, head.size)
    }

    /// The heap with its data, so many bytes.
    fn with_data(mut self, file: &OpenFile, size: u64) -> Result<LocalHeap> {
        let (before, from) = match self.place {
            Some(_) if self.is_one_block(file) => (head_size(file), self.address),
            Some(place) => (0, place),
            None => return Ok(self),
        };
        let length = before.checked_add(size).ok_or_else(|| Error::broken(WHAT, self.address, "it has no end"))?;
        let block = file.view_block(WHAT, from, length)?;
        self.data = Data { block: Some(block), start: before as usize, end: length as usize };
        Ok(self)
    }

    /// A new heap with room for names of about `room` bytes together. It has the empty name, at zero.
    pub fn create(file: &OpenFile, room: u64) -> Result<LocalHeap> {
        let (head, smallest) = (head_size(file), 8 + block_head(file));
        let size = room.max(smallest).next_multiple_of(8);
        let Ok(length) = usize::try_from(size) else {
            return Err(Error::Memory { what: WHAT, address: 0, length: size });
        };
        let address = file.allocate(Kind::Metadata, head + size)?;
        let mut heap = LocalHeap { address, data: Data::default(), place: Some(address + head), free: None };
        let mut data = vec![0; length];
        let free = [FreeBlock { start: 8, size: size - 8 }];
        heap.free = heap::local::encode_free(&mut data, &free, file.widths())?;
        heap.put(file, data)?;
        heap.with_data(file, size)
    }

    /// Where it is in the file: what names strings of the heap is written after the block here.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The string at a place in the heap, without the zero that ends it.
    pub fn string(&self, place: u64) -> Result<&[u8]> {
        self.rest(place).map(up_to_zero)
    }

    /// How the string at a place stands to a name. Looks at no more bytes than the name has, and one: strings of a bad heap may be as long as
    /// the file.
    pub fn compare(&self, place: u64, name: &[u8]) -> Result<Ordering> {
        let rest = self.rest(place)?;
        let (head, behind) = rest.split_at(name.len().min(rest.len()));
        // Where the string ends before the name does, its zero is less than what the name has there.
        Ok(match head.cmp(name) {
            Ordering::Equal if behind.first().is_some_and(|&byte| byte != 0) || name.contains(&0) => Ordering::Greater,
            order => order,
        })
    }

    /// Everything from a place on.
    fn rest(&self, place: u64) -> Result<&[u8]> {
        let start = usize::try_from(place).unwrap_or(usize::MAX);
        let rest = self.data.get().get(start..).filter(|rest| !rest.is_empty());
        rest.ok_or_else(|| Error::broken(WHAT, self.address, format!("no string at {place}")))
    }

    /// The free ranges as the data have them. What others put there may overlap: then the first one counts.
    fn read_free(&self, file: &OpenFile) -> Result<Ranges> {
        let mut blocks =
            heap::local::decode_free(self.data.get(), self.free, file.widths()).map_err(Error::at(self.address))?;
        blocks.sort_by_key(|block| block.start);
        let mut ranges = Ranges::default();
        blocks.iter().for_each(|block| add(&mut ranges, block.start, block.size));
        Ok(ranges)
    }

    fn is_one_block(&self, file: &OpenFile) -> bool {
        self.place == Some(self.address + head_size(file))
    }
}

/// Adds a range to those that are free. Two entries of a bad group may have named the same string.
fn add(free: &mut Ranges, start: u64, size: u64) {
    if !free.touches(start, size) {
        free.add(start, size);
    }
}

fn head_size(file: &OpenFile) -> u64 {
    heap::LocalHeap::size(file.widths()) as u64
}

/// The bytes at the front of a free block.
fn block_head(file: &OpenFile) -> u64 {
    (2 * file.widths().lengths.bytes() as u64).next_multiple_of(8)
}

fn up_to_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}
