//! The local heap: the names of an old-style group.

mod free;

use std::{cmp::Ordering, sync::Arc};

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::heap::{self, local::FreeBlock};

use self::free::{Free, Kept};
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
    block: Arc<Vec<u8>>,
    /// Where they begin and end in it.
    start: usize,
    end: usize,
}

impl Data {
    fn get(&self) -> &[u8] {
        self.block.get(self.start..self.end).unwrap_or_default()
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
        self.data = Data { block, start: before as usize, end: length as usize };
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

    /// How the string at a place stands to a name. Looks at no more bytes than the name has: strings of a bad heap may be as long as
    /// the file.
    pub fn compare(&self, place: u64, name: &[u8]) -> Result<Ordering> {
        let rest = self.rest(place)?;
        Ok(up_to_zero(rest.get(..=name.len()).unwrap_or(rest)).cmp(name))
    }

    /// Everything from a place on.
    fn rest(&self, place: u64) -> Result<&[u8]> {
        let start = usize::try_from(place).unwrap_or(usize::MAX);
        let rest = self.data.get().get(start..).filter(|rest| !rest.is_empty());
        rest.ok_or_else(|| Error::broken(WHAT, self.address, format!("no string at {place}")))
    }

    /// Adds a string; says where it is in the heap.
    pub fn add(&mut self, file: &OpenFile, string: &[u8]) -> Result<u64> {
        if string.contains(&0) {
            let name = String::from_utf8_lossy(string);
            return Err(Error::Refused(format!("a zero byte in the middle of the name {name:?}")));
        }
        let need = (string.len() as u64 + 1).next_multiple_of(8);
        let kept = if self.is_one_block(file) { None } else { Some(Kept::of(file, self)?) };
        let mut free = match &kept {
            Some(kept) => std::mem::take(&mut *kept.lock()),
            None => Free { ranges: self.read_free(file)?, ..Free::default() },
        };
        let added = self.put_string(file, string, need, &mut free);
        match kept {
            Some(kept) => *kept.lock() = free,
            // It has grown, and the data lie elsewhere now.
            None if !self.is_one_block(file) => drop(Kept::attach(file, self.address, free)?),
            None => {}
        }
        added
    }

    /// Puts a string into `need` free bytes; says where it is in the heap.
    fn put_string(&mut self, file: &OpenFile, string: &[u8], need: u64, free: &mut Free) -> Result<u64> {
        let start = match take(&mut free.ranges, need, block_head(file)) {
            Some(start) => start,
            None => self.grow(file, need, &mut free.ranges)?,
        };
        if start.checked_add(need).is_none_or(|end| end > self.data.len()) {
            return Err(Error::broken(WHAT, self.address, "its free blocks are not in it"));
        }
        self.store(file, free, |data| {
            let room = data.get_mut(start as usize..(start + need) as usize).unwrap_or_default();
            room.fill(0);
            room.iter_mut().zip(string).for_each(|(room, byte)| *room = *byte);
        })?;
        Ok(start)
    }

    /// Gives the string at `place` up. It stays where it is until the next flush, since the file may still name it.
    pub fn remove(&self, file: &OpenFile, place: u64) -> Result<()> {
        let there = self.data.len().saturating_sub(place);
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
        file.detach(self.address)?;
        match self.place.filter(|_| !self.is_one_block(file)) {
            Some(place) => file.free(place, self.data.len())?,
            None => return file.free(self.address, head_size(file) + self.data.len()),
        }
        file.free(self.address, head_size(file))
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

    /// Adds pieces to what is free.
    fn take_back(&mut self, file: &OpenFile, pieces: &[(u64, u64)]) -> Result<()> {
        if self.is_one_block(file) {
            let mut free = Free { ranges: self.read_free(file)?, ..Free::default() };
            pieces.iter().for_each(|&(start, size)| add(&mut free.ranges, start, size));
            return self.store(file, &mut free, |_| ());
        }
        let kept = Kept::of(file, self)?;
        let mut free = kept.lock();
        pieces.iter().for_each(|&(start, size)| add(&mut free.ranges, start, size));
        free.changed = true;
        Ok(())
    }

    /// Makes the data longer, by as much again at least; says where `need` bytes are.
    fn grow(&mut self, file: &OpenFile, need: u64, free: &mut Ranges) -> Result<u64> {
        let size = self.data.len();
        let tail = free.ending_at(size);
        let mut more = need.max(size);
        if tail.is_none() && more < need + block_head(file) {
            more = need;
        }
        self.move_to(file, size.saturating_add(more))?;
        let start = tail.map_or(size, |(start, _)| start);
        free.take(start);
        free.add(start + need, size.saturating_add(more) - start - need);
        Ok(start)
    }

    /// Finds a place for data of `size` bytes, and makes them so long.
    fn move_to(&mut self, file: &OpenFile, size: u64) -> Result<()> {
        let (old, head, mut data) = (self.data.len(), head_size(file), Vec::new());
        let more = size.saturating_sub(old);
        let Some(length) = usize::try_from(size).ok().filter(|&length| data.try_reserve_exact(length).is_ok()) else {
            return Err(Error::Memory { what: WHAT, address: self.address, length: size });
        };
        data.extend_from_slice(self.data.get());
        data.resize(length, 0);
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
        self.data = Data { block: Arc::new(Vec::new()), start: 0, end: length };
        self.put(file, data)?; // the block has its new length
        self.read_again(file)
    }

    /// The data as they are now.
    fn read_again(&mut self, file: &OpenFile) -> Result<()> {
        let size = self.data.len();
        *self = self.clone().with_data(file, size)?;
        Ok(())
    }

    /// Changes bytes of the data that nothing names. The list of free blocks is written with them if they are one block with the header.
    fn store(&mut self, file: &OpenFile, free: &mut Free, change: impl FnOnce(&mut [u8])) -> Result<()> {
        if !self.is_one_block(file) {
            self.hide_list(file, free)?;
            free.changed = true;
            return self.edit_apart(file, |data| {
                change(data);
                Ok(None)
            });
        }
        let (before, length) = (head_size(file), self.data.len());
        // Nobody reads the block here, so that it is not copied.
        self.data.block = Arc::default();
        file.edit(WHAT, self.address, before + length, |bytes| {
            let short = || Error::broken(WHAT, self.address, "it is cut");
            let (head, data) = bytes.split_at_mut_checked(before as usize).ok_or_else(short)?;
            change(data);
            self.free = heap::local::encode_free(data, &listed(&free.ranges, file), file.widths())?;
            head.copy_from_slice(&self.head(file)?);
            Ok(())
        })?;
        self.read_again(file)
    }

    /// Writes the list of free bytes of data that lie apart from the header.
    fn write_free(&mut self, file: &OpenFile, free: &mut Free) -> Result<()> {
        self.hide_list(file, free)?;
        (free.is_listed, free.changed) = (true, false);
        self.edit_apart(file, |data| Ok(heap::local::encode_free(data, &listed(&free.ranges, file), file.widths())?))
    }

    /// Changes data that lie apart from the header; `change` says where the list of free blocks begins. The header is written after them, and after it
    /// what names their strings.
    fn edit_apart(&mut self, file: &OpenFile, change: impl FnOnce(&mut [u8]) -> Result<Option<u64>>) -> Result<()> {
        let place = self.place.ok_or_else(|| Error::broken(WHAT, self.address, "it has no data"))?;
        // Nobody reads the block here, so that it is not copied.
        self.data.block = Arc::default();
        let free = file.edit(WHAT, place, self.data.len(), change)?;
        // What names the new strings waits for the header, so that must be written, too.
        if std::mem::replace(&mut self.free, free) != free || !file.is_changed(self.address) {
            file.put(self.address, self.head(file)?)?;
        }
        file.order(place, self.address)?;
        self.read_again(file)
    }

    /// Lets the file know no more where the list of free bytes is, before that changes where it is.
    fn hide_list(&mut self, file: &OpenFile, free: &mut Free) -> Result<()> {
        let is_seen = self.place.is_some_and(|place| !file.is_fresh(place)) && !file.is_fresh(self.address);
        if std::mem::take(&mut free.is_listed) && is_seen {
            // Only the file forgets it here. A header in memory that names the list is put again when the data change.
            let hidden = heap::LocalHeap { size: self.data.len(), free: None, data: self.place };
            file.rewrite(WHAT, &[(self.address, &hidden.encode(file.widths())?)])?;
        }
        Ok(())
    }

    /// Puts the header, and data that have another length or place than before.
    fn put(&self, file: &OpenFile, data: Vec<u8>) -> Result<()> {
        let size = data.len() as u64;
        let head = heap::LocalHeap { size, free: self.free, data: self.place };
        let mut head = head.encode(file.widths())?;
        match self.place {
            Some(_) if self.is_one_block(file) => head.extend_from_slice(&data),
            Some(place) => file.put(place, data)?,
            None => {}
        }
        file.put(self.address, head)
    }

    fn head(&self, file: &OpenFile) -> Result<Vec<u8>> {
        let head = heap::LocalHeap { size: self.data.len(), free: self.free, data: self.place };
        Ok(head.encode(file.widths())?)
    }
}

/// Takes `need` bytes out of the smallest free range that has them, and has nothing or room for a head of `head` bytes left.
fn take(free: &mut Ranges, need: u64, head: u64) -> Option<u64> {
    let exact = free.best(need).filter(|(_, size)| *size == need);
    let (start, size) = exact.or_else(|| free.best(need.saturating_add(head)))?;
    free.take(start);
    free.add(start + need, size - need);
    Some(start)
}

/// Adds a range to those that are free. Two entries of a bad group may have named the same string.
fn add(free: &mut Ranges, start: u64, size: u64) {
    if !free.touches(start, size) {
        free.add(start, size);
    }
}

/// The free blocks of a list. What cannot hold the head of one is not in it, and lost, as in libhdf5.
fn listed(free: &Ranges, file: &OpenFile) -> Vec<FreeBlock> {
    let blocks = free.all().map(|(start, size)| FreeBlock { start, size });
    blocks.filter(|block| block.size >= block_head(file)).collect()
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
