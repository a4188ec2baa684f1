//! Objects that come into a heap: in its ids, in free ranges of direct blocks, in new blocks.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, Result};
use hyperslab_format::heap::fractal::{self, Child, HeapId, Usage};

use super::{
    DIRECT,
    blocks::{self, BlockPosition, Direct},
    change::Change,
    direct::DirectBlock,
};

/// An indirect block that gets a child.
struct Indirect {
    address: Option<u64>,
    old_rows: u32,
    rows: u32,
    offset: u64,
}

impl Change<'_> {
    /// Adds objects, `each` gets the id of each. The header is written later.
    pub(super) fn insert_all(&mut self, mut objects: &[&[u8]], each: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
        while let Some((first, others)) = objects.split_first() {
            objects = match self.insert_row(objects, each)? {
                0 => {
                    each(self.insert(first)?);
                    others
                }
                count => objects.get(count..).unwrap_or_default(),
            };
        }
        Ok(())
    }

    /// Adds the first objects, which go one behind the other into the smallest free range that has room for each: as if they came one by one, but the block is looked
    /// up and changed once. How many; none if the first one does not go into such a range.
    fn insert_row(&mut self, objects: &[&[u8]], each: &mut dyn FnMut(Vec<u8>)) -> Result<usize> {
        let Some(first) = objects.first().filter(|first| self.is_for_blocks(first)) else { return Ok(0) };
        self.free_list()?;
        self.let_go()?;
        let Some((start, size, block)) = self.room(first.len() as u64)? else { return Ok(0) };
        let (mut end, mut count) = (start + first.len() as u64, 1);
        for object in objects.iter().skip(1) {
            let length = object.len() as u64;
            // What is left of the range has fewer bytes than the list says, so that another range is no better if it is not by the list.
            let is_best =
                end - start + length <= size && self.free_list()?.ranges().best(length) == Some((start, size));
            if !is_best || !self.is_for_blocks(object) {
                break;
            }
            (end, count) = (end + length, count + 1);
        }
        let row = objects.get(..count).unwrap_or_default();
        self.fill(start, &block, row)?;
        let mut offset = start;
        for object in row {
            let length = object.len() as u64;
            each(HeapId::Managed { offset, length }.encode(&self.header, self.file.widths())?);
            offset += length;
        }
        self.header.usage.managed_objects += count as u64;
        self.header.free = self.header.free.saturating_sub(end - start);
        Ok(count)
    }

    /// The most bytes of an object that lies in its id.
    fn most_tiny(&self) -> usize {
        let tiny = usize::from(self.header.id_len) - 1;
        if tiny <= 16 { tiny } else { (tiny - 1).max(16) }
    }

    /// Whether an object lies in a block with others.
    fn is_for_blocks(&self, object: &[u8]) -> bool {
        let alone = object.len() as u64 > u64::from(self.header.max_managed) || self.header.filters.is_some();
        object.len() > self.most_tiny() && !alone
    }

    /// Adds an object; gives its id. The header is written later.
    fn insert(&mut self, object: &[u8]) -> Result<Vec<u8>> {
        let widths = self.file.widths();
        let length = object.len() as u64;
        if object.is_empty() {
            return self.refuse("an object has one byte at least");
        }
        let tiny = self.most_tiny();
        self.free_list()?;
        // A direct block goes through the filters as a whole; an object that lies alone may go past them.
        let alone = length > u64::from(self.header.max_managed) || self.header.filters.is_some();
        let id = if alone && object.len() > tiny {
            self.check_huge()?;
            self.let_go()?;
            self.insert_huge(object)?
        } else if object.len() <= tiny {
            let id = HeapId::Tiny(object.to_vec()).encode(&self.header, widths)?;
            self.let_go()?;
            self.header.usage.tiny_objects += 1;
            self.header.usage.tiny_size += length;
            id
        } else {
            self.let_go()?;
            let offset = match self.room(length)? {
                Some((offset, _, block)) => self.fill(offset, &block, &[object]).map(|()| offset)?,
                None => self.insert_block(object)?,
            };
            self.header.usage.managed_objects += 1;
            self.header.free = self.header.free.saturating_sub(length);
            HeapId::Managed { offset, length }.encode(&self.header, widths)?
        };
        Ok(id)
    }

    /// A free range for so many bytes: its start, its size and its block. Ranges that are in no block are forgotten.
    fn room(&mut self, length: u64) -> Result<Option<(u64, u64, Direct)>> {
        while let Some((offset, size)) = self.free_list()?.ranges().best(length) {
            let overhead = blocks::overhead(&self.header, self.file.widths());
            let fits = |block: &Direct| {
                let within = offset - block.offset;
                within >= overhead && within.checked_add(size).is_some_and(|end| end <= block.size)
            };
            match self.find(offset).ok().filter(fits) {
                Some(block) => return Ok(Some((offset, size, block))),
                None => self.free_list()?.take(offset),
            }
        }
        Ok(None)
    }

    /// Puts objects into a free range of a block, one behind the other.
    fn fill(&mut self, start: u64, block: &Direct, objects: &[&[u8]]) -> Result<()> {
        let (address, mut end) = (block.address, start);
        DirectBlock::change(self.file, (&self.before, self.address), block, |block| {
            let missing = || Error::broken(DIRECT, address, "a free range that is not there");
            for object in objects {
                block.set(end, object).ok_or_else(missing)?;
                end += object.len() as u64;
            }
            Ok(())
        })?;
        if !self.file.is_fresh(address) {
            self.touched.push(address);
        }
        self.free_list()?.take_front(start, end - start);
        Ok(())
    }

    /// Puts an object into a new block.
    fn insert_block(&mut self, object: &[u8]) -> Result<u64> {
        let (widths, length) = (self.file.widths(), object.len() as u64);
        let (overhead, table) = (blocks::overhead(&self.header, widths), self.header.table);
        let mut least = table.start;
        if length >= table.start {
            least = (length + 1).next_power_of_two();
        }
        if least < overhead + length {
            least = least.saturating_mul(2);
        }
        let first = self.header.root.is_none() && least == table.start;
        let place = if first {
            Some(BlockPosition { offset: 0, size: table.start, rows: 0, path: Vec::new() })
        } else {
            blocks::next(&self.header, least)
        };
        let Some(place) = place.filter(|place| place.size >= overhead + length && place.rows <= u16::MAX.into()) else {
            return self.refuse("it is full");
        };
        let (old_rows, old_root) = (u32::from(self.header.root_rows), self.header.root);
        let capacity = |rows| match rows {
            0 => table.start.saturating_sub(overhead),
            rows => blocks::capacity(&self.header, rows, widths),
        };
        let had = if old_root.is_some() { capacity(old_rows) } else { 0 };
        let free = self.header.free.saturating_add(capacity(place.rows).saturating_sub(had));
        let root = if first {
            self.make_direct(&place, object, overhead)?
        } else {
            let root = Indirect { address: old_root, old_rows, rows: place.rows, offset: 0 };
            self.hang(root, &place.path, &mut |change| change.make_direct(&place, object, overhead))?
        };
        self.header.root = Some(root);
        self.header.root_rows = place.rows as u16;
        self.header.free = free;
        let Usage { managed_size, managed_allocated, managed_next, .. } = &mut self.header.usage;
        *managed_size = if first { table.start } else { table.row_offset(place.rows).unwrap_or(*managed_size) };
        *managed_allocated = managed_allocated.saturating_add(place.size);
        if !first {
            *managed_next = place.offset.saturating_add(place.size);
        }
        let offset = place.offset + overhead;
        self.free_list()?.add(offset + length, place.size - overhead - length);
        Ok(offset)
    }

    /// A new direct block with an object.
    fn make_direct(&mut self, place: &BlockPosition, object: &[u8], overhead: u64) -> Result<u64> {
        let heap = (self.before.clone(), self.address);
        let mut block = DirectBlock::new(self.file, heap, place.size, place.offset);
        block.set(place.offset + overhead, object).ok_or_else(|| self.broken("a block without room for an object"))?;
        let address = self.file.allocate(Kind::Metadata, place.size)?;
        self.file.put_structure(address, Arc::new(block))?;
        Ok(address)
    }

    /// Puts a new direct block below an indirect one; gives where that one is now. All is read before anything is made.
    fn hang(
        &mut self,
        block: Indirect,
        path: &[(usize, u64, u32)],
        make: &mut dyn FnMut(&mut Self) -> Result<u64>,
    ) -> Result<u64> {
        let (widths, width) = (self.file.widths(), usize::from(self.header.table.width));
        let none = Child { address: None, filtered: None };
        let mut children = match block.address {
            None => Vec::new(),
            // A direct block that was the root is the first child.
            Some(address) if block.old_rows == 0 => vec![Child { address: Some(address), filtered: None }],
            Some(address) => blocks::read_indirect(self.file, &self.header, address, block.old_rows)?.to_vec(),
        };
        children.resize(block.rows as usize * width, none);
        let Some((&(nth, begin, rows), below)) = path.split_first() else {
            return Err(self.broken("no place for a block"));
        };
        let there = children.get(nth).and_then(|child| child.address);
        let made = if below.is_empty() {
            if there.is_some() {
                return Err(self.broken("there is a block where the next one belongs"));
            }
            make(self)?
        } else {
            self.hang(Indirect { address: there, old_rows: rows, rows, offset: begin }, below, make)?
        };
        if let Some(child) = children.get_mut(nth) {
            child.address = Some(made);
        }
        let bytes = fractal::encode_indirect(&children, &self.header, self.address, block.offset, block.rows, widths)?;
        let size = bytes.len() as u64;
        let address = match block.address.filter(|_| block.old_rows > 0) {
            Some(address) if block.old_rows == block.rows => self.file.shadow(address, size)?,
            Some(address) => {
                let old = fractal::indirect_size(&self.header, block.old_rows, widths) as u64;
                let new = self.file.allocate(Kind::Metadata, size)?;
                self.file.free(address, old)?;
                new
            }
            None => self.file.allocate(Kind::Metadata, size)?,
        };
        self.file.put_decoded(address, Arc::new(bytes), Arc::new(children))?;
        Ok(address)
    }
}
