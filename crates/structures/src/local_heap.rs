//! The local heap: the names of an old-style group.

use std::{cmp::Ordering, ops::Range};

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::heap::{self, local::FreeBlock};

const WHAT: &str = "local heap";

/// A local heap with its data, as it was when it was opened. Whoever changes it opens it in the same operation.
///
/// The heap has one place to which changes are published: its header. If the data follow the header in the file, both are one block; else
/// changed data go to new space, and the header is switched to it. So names are never seen half written.
#[derive(Clone, Debug)]
pub struct LocalHeap {
    address: u64,
    data: Vec<u8>,
    place: Option<u64>,
    free: Option<u64>,
}

impl LocalHeap {
    /// Reads the heap.
    pub fn open(file: &OpenFile, address: u64) -> Result<LocalHeap> {
        let widths = file.widths();
        let head = file.metadata(WHAT, address, heap::LocalHeap::size(widths) as u64)?;
        let head = heap::LocalHeap::decode(&head, widths).map_err(Error::at(address))?;
        let data = match head.data {
            Some(data) => file.metadata(WHAT, data, head.size)?,
            None => Vec::new(),
        };
        Ok(LocalHeap { address, data, place: head.data, free: head.free })
    }

    /// A new heap with room for names of about `room` bytes together. It has the empty name, at zero.
    pub fn create(file: &OpenFile, room: u64) -> Result<LocalHeap> {
        let (head, smallest) = (head_size(file), 8 + block_head(file));
        let size = room.max(smallest).next_multiple_of(8);
        let Ok(length) = usize::try_from(size) else {
            return Err(Error::Memory { what: WHAT, address: 0, length: size });
        };
        let address = file.allocate(Kind::Metadata, head + size)?;
        let mut heap = LocalHeap { address, data: vec![0; length], place: Some(address + head), free: None };
        let free = [FreeBlock { start: 8, size: size - 8 }];
        heap.free = heap::local::encode_free(&mut heap.data, &free, file.widths())?;
        heap.put(file)?;
        Ok(heap)
    }

    /// Where it is in the file: what names strings of the heap is written after the block here.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The string at a place in the heap, without the zero that ends it.
    pub fn string(&self, place: u64) -> Result<&[u8]> {
        self.rest(place).map(up_to_zero)
    }

    /// How the string at a place stands to a name. Looks at no more bytes than the name has: strings of a bad heap may be as long as
    /// the file.
    pub fn compare(&self, place: u64, name: &[u8]) -> Result<Ordering> {
        let rest = self.rest(place)?;
        Ok(up_to_zero(rest.get(..=name.len()).unwrap_or(rest)).cmp(name))
    }

    /// Everything from a place on.
    fn rest(&self, place: u64) -> Result<&[u8]> {
        let start = usize::try_from(place).unwrap_or(usize::MAX);
        let rest = self.data.get(start..).filter(|rest| !rest.is_empty());
        rest.ok_or_else(|| Error::broken(WHAT, self.address, format!("no string at {place}")))
    }

    /// Adds a string; says where it is in the heap.
    pub fn add(&mut self, file: &OpenFile, string: &[u8]) -> Result<u64> {
        if string.contains(&0) {
            let name = String::from_utf8_lossy(string);
            return Err(Error::Refused(format!("a zero byte in the middle of the name {name:?}")));
        }
        let mut free = self.free_blocks(file)?;
        let need = (string.len() as u64 + 1).next_multiple_of(8);
        let start = match take(&mut free, need, block_head(file)) {
            Some(start) => start,
            None => self.grow(file, need, &mut free)?,
        };
        let place = usize::try_from(start).unwrap_or(usize::MAX);
        let room = self.data.get_mut(place..).and_then(|rest| rest.get_mut(..need as usize));
        let Some(room) = room else {
            return Err(Error::broken(WHAT, self.address, "its free blocks are not in it"));
        };
        room.fill(0);
        room.iter_mut().zip(string).for_each(|(room, byte)| *room = *byte);
        self.store(file, &free, start..start + need)?;
        Ok(start)
    }

    /// Gives the string at `place` up. It stays where it is until the next flush, since the file may still name it.
    pub fn remove(&self, file: &OpenFile, place: u64) -> Result<()> {
        let there = (self.data.len() as u64).saturating_sub(place);
        let length = (self.string(place)?.len() as u64 + 1).next_multiple_of(8).min(there);
        // The empty name is everybody's; what others put where we would not is left to them.
        if place == 0 || !place.is_multiple_of(8) {
            return Ok(());
        }
        file.give_up(self.address, (place, length), |file, address, pieces| {
            LocalHeap::open(file, address)?.take_back(file, pieces)
        })
    }

    /// Gives all its space back.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        match self.place.filter(|_| !self.is_one_block(file)) {
            Some(place) => file.free(place, self.data.len() as u64)?,
            None => return file.free(self.address, head_size(file) + self.data.len() as u64),
        }
        file.free(self.address, head_size(file))
    }

    fn free_blocks(&self, file: &OpenFile) -> Result<Vec<FreeBlock>> {
        heap::local::decode_free(&self.data, self.free, file.widths()).map_err(Error::at(self.address))
    }

    fn is_one_block(&self, file: &OpenFile) -> bool {
        self.place == Some(self.address + head_size(file))
    }

    /// Adds pieces to the free blocks, and joins what touches. What cannot hold the head of a free block is lost, as in libhdf5.
    fn take_back(&mut self, file: &OpenFile, pieces: &[(u64, u64)]) -> Result<()> {
        let mut blocks = self.free_blocks(file)?;
        blocks.extend(pieces.iter().map(|&(start, size)| FreeBlock { start, size }));
        blocks.sort_by_key(|block| block.start);
        let mut joined: Vec<FreeBlock> = Vec::with_capacity(blocks.len());
        for block in blocks {
            match joined.last_mut() {
                // Two entries of a bad group may have named the same string.
                Some(last) if block.start < last.start + last.size => {}
                Some(last) if block.start == last.start + last.size => last.size += block.size,
                _ => joined.push(block),
            }
        }
        joined.retain(|block| block.size >= block_head(file));
        self.store(file, &joined, 0..0)
    }

    /// Makes the data longer, by as much again at least; says where `need` bytes are.
    fn grow(&mut self, file: &OpenFile, need: u64, free: &mut Vec<FreeBlock>) -> Result<u64> {
        let size = self.data.len() as u64;
        let tail = free.iter().position(|block| block.start + block.size == size);
        let mut more = need.max(size);
        if tail.is_none() && more < need + block_head(file) {
            more = need;
        }
        self.move_to(file, size.saturating_add(more))?;
        let (start, rest) = match tail.map(|nth| free.swap_remove(nth)) {
            Some(tail) => (tail.start, tail.size + more - need),
            None => (size, more - need),
        };
        if rest >= block_head(file) {
            free.insert(0, FreeBlock { start: start + need, size: rest });
        }
        Ok(start)
    }

    /// Finds a place for data of `size` bytes, and makes them so long.
    fn move_to(&mut self, file: &OpenFile, size: u64) -> Result<()> {
        let (old, head) = (self.data.len() as u64, head_size(file));
        let more = size.saturating_sub(old);
        let length = usize::try_from(more).ok().filter(|&more| self.data.try_reserve_exact(more).is_ok());
        let Some(length) = length else {
            return Err(Error::Memory { what: WHAT, address: self.address, length: size });
        };
        let extended = match self.place {
            Some(_) if self.is_one_block(file) => file.extend(self.address, head + old, more)?,
            // Published data do not change where they are.
            Some(place) if file.is_fresh(place) => file.extend(place, old, more)?,
            _ => false,
        };
        if !extended {
            let place = file.allocate(Kind::Metadata, size)?;
            if let Some(old_place) = self.place.replace(place) {
                file.free(old_place, old)?;
            }
        }
        self.data.resize(self.data.len() + length, 0);
        self.put(file) // the block has its new length
    }

    /// Writes the free blocks into the data, and what changed of it into the file: that, and the bytes of `changed`.
    fn store(&mut self, file: &OpenFile, free: &[FreeBlock], changed: Range<u64>) -> Result<()> {
        self.free = heap::local::encode_free(&mut self.data, free, file.widths())?;
        let one = self.is_one_block(file);
        let length = self.data.len() as u64;
        if let Some(place) = self.place.filter(|&place| !one && !file.is_fresh(place)) {
            self.place = Some(file.shadow(place, length)?);
            return self.put(file);
        }
        let head = self.head(file)?;
        let (block, before) = if one { (self.address, head.len() as u64) } else { (self.place.unwrap_or(0), 0) };
        let heads = free.iter().map(|block| block.start..block.start + block_head(file));
        file.edit(WHAT, block, before + length, |bytes| {
            for range in heads.chain([changed]) {
                let place = range.start as usize..range.end as usize;
                let there = bytes.get_mut(before as usize + place.start..before as usize + place.end);
                if let (Some(there), Some(now)) = (there, self.data.get(place)) {
                    there.copy_from_slice(now);
                }
            }
            if one {
                bytes.iter_mut().zip(&head).for_each(|(there, now)| *there = *now);
            }
            Ok(())
        })?;
        if one { Ok(()) } else { file.put(self.address, head) }
    }

    fn put(&self, file: &OpenFile) -> Result<()> {
        let mut head = self.head(file)?;
        match self.place {
            Some(_) if self.is_one_block(file) => head.extend_from_slice(&self.data),
            Some(place) => file.put(place, self.data.clone())?,
            None => {}
        }
        file.put(self.address, head)
    }

    fn head(&self, file: &OpenFile) -> Result<Vec<u8>> {
        let head = heap::LocalHeap { size: self.data.len() as u64, free: self.free, data: self.place };
        Ok(head.encode(file.widths())?)
    }
}

/// Takes `need` bytes out of the first free block that has them, and has nothing or room for a head of `head` bytes left.
fn take(free: &mut Vec<FreeBlock>, need: u64, head: u64) -> Option<u64> {
    let nth = free.iter().position(|block| block.size == need || block.size >= need.saturating_add(head))?;
    let block = free.get_mut(nth)?;
    let start = block.start;
    (block.start, block.size) = (start + need, block.size - need);
    if block.size == 0 {
        free.remove(nth);
    }
    Some(start)
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
