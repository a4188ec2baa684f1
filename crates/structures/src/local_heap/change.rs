//! Strings of a local heap come and go.

use std::ops::Range;

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::heap::{self, local::FreeBlock};

use super::{
    Data, LocalHeap, WHAT, add, block_head,
    free::{Free, FreeList},
    head_size,
};
use crate::ranges::Ranges;

impl LocalHeap {
    /// Adds a string; says where it is in the heap.
    pub fn add(&mut self, file: &OpenFile, string: &[u8]) -> Result<u64> {
        let mut place = 0;
        self.add_all(file, &[string], std::slice::from_mut(&mut place))?;
        Ok(place)
    }

    /// Adds strings; `places` get to say where they are in the heap.
    pub fn add_all(&mut self, file: &OpenFile, strings: &[&[u8]], places: &mut [u64]) -> Result<()> {
        if let Some(string) = strings.iter().find(|string| string.contains(&0)) {
            let name = String::from_utf8_lossy(string);
            return Err(Error::Refused(format!("a zero byte in the middle of the name {name:?}")));
        }
        let kept = if self.is_one_block(file) { None } else { Some(FreeList::of(file, self)?) };
        let mut free = match &kept {
            Some(kept) => std::mem::take(&mut *kept.lock()),
            None => Free { ranges: self.read_free(file)?, ..Free::default() },
        };
        let added = self.put_strings(file, strings, places, &mut free);
        match kept {
            Some(kept) => *kept.lock() = free,
            // It has grown, and the data lie elsewhere now.
            None if !self.is_one_block(file) => drop(FreeList::attach(file, self.address, free)?),
            None => {}
        }
        added
    }

    /// Puts strings into free bytes; `places` get to say where they are in the heap.
    fn put_strings(&mut self, file: &OpenFile, strings: &[&[u8]], places: &mut [u64], free: &mut Free) -> Result<()> {
        for (place, string) in places.iter_mut().zip(strings) {
            let need = taken_by(string);
            *place = match take(&mut free.ranges, need, block_head(file)) {
                Some(start) => start,
                None => self.grow(file, need, &mut free.ranges)?,
            };
            if place.checked_add(need).is_none_or(|end| end > self.data.len()) {
                return Err(Error::broken(WHAT, self.address, "its free blocks are not in it"));
            }
        }
        let (mut padded, mut joined): (Vec<u8>, Vec<(u64, Range<usize>)>) = (Vec::new(), Vec::new());
        for (&place, string) in places.iter().zip(strings) {
            let begin = padded.len();
            padded.extend_from_slice(string);
            padded.resize(begin + taken_by(string) as usize, 0);
            // Strings that lie behind each other are one part.
            match joined.last_mut().filter(|(start, range)| start.saturating_add(range.len() as u64) == place) {
                Some((_, range)) => range.end = padded.len(),
                None => joined.push((place, begin..padded.len())),
            }
        }
        let parts = joined.into_iter().map(|(place, range)| (place, padded.get(range).unwrap_or_default()));
        let parts: Vec<_> = parts.collect();
        self.store(file, free, &parts)
    }

    /// Gives the string at `place` up. It stays where it is until the next flush, since the file may still name it.
    pub fn remove(&self, file: &OpenFile, place: u64) -> Result<()> {
        let there = self.data.len().saturating_sub(place);
        let length = taken_by(self.string(place)?).min(there);
        // All entries share the empty name at zero. Another library may put a string where no multiple of 8 is; its bytes are not freed.
        if place == 0 || !place.is_multiple_of(8) {
            return Ok(());
        }
        file.free_after_flush(self.address, (place, length), |file, address, pieces| {
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

    /// Adds pieces to what is free.
    fn take_back(&mut self, file: &OpenFile, pieces: &[(u64, u64)]) -> Result<()> {
        if self.is_one_block(file) {
            let mut free = Free { ranges: self.read_free(file)?, ..Free::default() };
            pieces.iter().for_each(|&(start, size)| add(&mut free.ranges, start, size));
            return self.store(file, &mut free, &[]);
        }
        let kept = FreeList::of(file, self)?;
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
        self.data = Data { block: None, start: 0, end: length };
        self.put(file, data)?; // the block has its new length
        *self = LocalHeap::open(file.owned(self.owner), self.address)?;
        Ok(())
    }

    /// Puts bytes into the data, where nothing names them: pairs of place and bytes. The list of free blocks is written with them if they are one block with
    /// the header.
    fn store(&mut self, file: &OpenFile, free: &mut Free, parts: &[(u64, &[u8])]) -> Result<()> {
        if !self.is_one_block(file) {
            self.hide_list(file, free)?;
            free.changed = true;
            let data = self.lend_data()?;
            self.data.block = Some(file.owned(self.owner).amend(WHAT, data, parts)?);
            return self.put_head_behind(file, None);
        }
        let (before, length) = (head_size(file), self.data.len());
        // The heap lets go of the block, because a shared block is copied before it changes.
        self.data.block = None;
        let ((), block) = file.owned(self.owner).edit(WHAT, self.address, before + length, |bytes| {
            let short = || Error::broken(WHAT, self.address, "it is cut");
            let (head, data) = bytes.split_at_mut_checked(before as usize).ok_or_else(short)?;
            for &(at, bytes) in parts {
                let place = data.get_mut(at as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
                place.ok_or_else(short)?.copy_from_slice(bytes);
            }
            self.free = heap::local::encode_free(data, &listed(&free.ranges, file), file.widths())?;
            head.copy_from_slice(&self.head(file)?);
            Ok(())
        })?;
        self.data.block = Some(block);
        Ok(())
    }

    /// Writes the list of free bytes of data that lie apart from the header.
    pub(super) fn write_free(&mut self, file: &OpenFile, free: &mut Free) -> Result<()> {
        self.hide_list(file, free)?;
        (free.is_listed, free.changed) = (true, false);
        let (place, length) = self.lend_data()?;
        let blocks = listed(&free.ranges, file);
        let heads = heap::local::encode_heads(length, &blocks, file.widths())?;
        let parts: Vec<_> = heads.iter().map(|(at, head)| (*at, head.as_slice())).collect();
        self.data.block = Some(file.owned(self.owner).amend(WHAT, (place, length), &parts)?);
        self.put_head_behind(file, blocks.first().map(|first| first.start))
    }

    /// The address and the length of data that lie apart from the header. The heap lets go of them, because a shared block is copied before it changes.
    fn lend_data(&mut self) -> Result<(u64, u64)> {
        self.data.block = None;
        let place = self.place.ok_or_else(|| Error::broken(WHAT, self.address, "it has no data"))?;
        Ok((place, self.data.len()))
    }

    /// Says in the header where the list of free blocks begins. The header is written after the data, and after it what names their strings.
    fn put_head_behind(&mut self, file: &OpenFile, free: Option<u64>) -> Result<()> {
        // What names the new strings waits for the header, so that must be written, too.
        if std::mem::replace(&mut self.free, free) != free || !file.is_changed(self.address) {
            file.owned(self.owner).put(self.address, self.head(file)?)?;
        }
        self.place.map_or(Ok(()), |place| file.order_within(place, self.address))
    }

    /// Lets the file know no more where the list of free bytes is, before that changes where it is.
    fn hide_list(&mut self, file: &OpenFile, free: &mut Free) -> Result<()> {
        let is_seen = || self.place.is_some_and(|place| !file.is_fresh(place)) && !file.is_fresh(self.address);
        if std::mem::take(&mut free.is_listed) && is_seen() {
            // Only the file forgets it here. A header in memory that names the list is put again when the data change.
            let hidden = heap::LocalHeap { size: self.data.len(), free: None, data: self.place };
            file.rewrite_first(WHAT, &[(self.address, &hidden.encode(file.widths())?)])?;
        }
        Ok(())
    }

    /// Puts the header, and data that have another length or place than before.
    pub(super) fn put(&self, file: &OpenFile, data: Vec<u8>) -> Result<()> {
        let size = data.len() as u64;
        let head = heap::LocalHeap { size, free: self.free, data: self.place };
        let mut head = head.encode(file.widths())?;
        match self.place {
            Some(_) if self.is_one_block(file) => head.extend_from_slice(&data),
            Some(place) => file.owned(self.owner).put(place, data)?,
            None => {}
        }
        file.owned(self.owner).put(self.address, head)
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

/// The free blocks of a list. What cannot hold the head of one is not in it, and lost, as in libhdf5.
fn listed(free: &Ranges, file: &OpenFile) -> Vec<FreeBlock> {
    let blocks = free.all().map(|(start, size)| FreeBlock { start, size });
    blocks.filter(|block| block.size >= block_head(file)).collect()
}

/// The bytes that a string takes, with the zero that ends it.
fn taken_by(string: &[u8]) -> u64 {
    (string.len() as u64 + 1).next_multiple_of(8)
}
