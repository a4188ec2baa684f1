//! The local heap: the names of an old-style group.

mod change;
mod free;

use std::{cmp::Ordering, sync::Arc};

use hyperslab_file::{Block, Error, Extent, Kind, OpenFile, Owned, Owner, Result, Seal};
use hyperslab_format::{
    Defect, Fault, Malformed,
    heap::{self, local::FreeBlock},
};

use crate::ranges::Ranges;

const WHAT: &str = "local heap";

/// A local heap with its data, as it was when it was opened. An operation that changes it opens it itself.
///
/// If the data follow the header in the file, both are one block, which is written as a whole. Else new names go into bytes that nothing in the file names, the
/// data are written before the header, and the list of free bytes is not in the file meanwhile.
#[derive(Clone, Debug)]
pub struct LocalHeap {
    address: u64,
    /// The object that it belongs to.
    owner: Owner,
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

/// The header of a heap, with its data if they follow.
pub(crate) struct HeapBlock;

impl Block for HeapBlock {
    type Value = LocalHeap;
    const WHAT: &'static str = WHAT;
    const IS_CHEAP: bool = true;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Signature
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Told(head_size(file))
    }

    fn length(&self, file: &OpenFile, address: u64, first: &[u8]) -> Result<u64, Malformed> {
        let (head, size) = (heap::LocalHeap::decode(first, file.widths())?, head_size(file));
        let data = if head.data == address.checked_add(size) { head.size } else { 0 };
        let endless =
            || Malformed::new(Defect { what: WHAT, at: 8, fault: Fault::Length, why: "it has no end".into() });
        size.checked_add(data).ok_or_else(endless)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<LocalHeap> {
        let head = heap::LocalHeap::decode(bytes, file.widths()).map_err(Error::at(address))?;
        let (start, size) = (head_size(file) as usize, usize::try_from(head.size).unwrap_or(usize::MAX));
        let data = match bytes.len().checked_sub(start) {
            Some(behind) if behind > 0 => Data { block: Some(bytes.clone()), start, end: start + behind },
            _ => Data { block: None, start: 0, end: size },
        };
        Ok(LocalHeap { address, owner: Owner::FILE, data, place: head.data, free: head.free })
    }
}

/// Data of a heap that lie apart from its header, so many bytes.
struct HeapData(u64);

impl Block for HeapData {
    type Value = Data;
    const WHAT: &'static str = WHAT;
    const IS_CHEAP: bool = true;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::None
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.0)
    }

    fn decode(&self, _: &OpenFile, _: u64, bytes: &Arc<Vec<u8>>) -> Result<Data> {
        Ok(Data { block: Some(bytes.clone()), start: 0, end: bytes.len() })
    }
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
    pub fn open<'f>(file: impl Into<Owned<'f>>, address: u64) -> Result<LocalHeap> {
        let file = file.into();
        let mut heap = Arc::unwrap_or_clone(file.load(&HeapBlock, address)?);
        heap.owner = file.owner();
        if let Some(place) = heap.place.filter(|_| heap.data.block.is_none()) {
            heap.data = Arc::unwrap_or_clone(file.load(&HeapData(heap.data.len()), place)?);
        }
        Ok(heap)
    }

    /// A new heap with room for names of about `room` bytes together. It has the empty name, at zero.
    pub fn create<'f>(file: impl Into<Owned<'f>>, room: u64) -> Result<LocalHeap> {
        let file = file.into();
        let (head, smallest) = (head_size(&file), 8 + block_head(&file));
        let size = room.max(smallest).next_multiple_of(8);
        let Ok(length) = usize::try_from(size) else {
            return Err(Error::Memory { what: WHAT, address: 0, length: size });
        };
        let address = file.allocate(Kind::Metadata, head + size)?;
        let (owner, data, place) = (file.owner(), Data::default(), Some(address + head));
        let mut heap = LocalHeap { address, owner, data, place, free: None };
        let mut data = vec![0; length];
        let free = [FreeBlock { start: 8, size: size - 8 }];
        heap.free = heap::local::encode_free(&mut data, &free, file.widths())?;
        heap.put(&file, data)?;
        LocalHeap::open(file, address)
    }

    /// The object that it belongs to.
    pub fn owner(&self) -> Owner {
        self.owner
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
