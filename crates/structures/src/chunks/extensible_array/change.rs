//! Changing an extensible array. Blocks come with the first chunk in them; a new block is in the file before the slot that names it,
//! a new page before its bit in the super block, and the header with its counts comes last.

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        extensible_array::{self, ExtensibleArray, IndexBlock, SuperBlock, SuperEntries, Usage},
    },
    message::ArrayShape,
};

use super::{ChunkArray, WHAT};
use crate::{
    chunks::{apply, nothings, numbered},
    node_cache::NodeCache,
};

/// Where an element is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementAt {
    /// In the index block.
    Index,
    /// In a data block.
    Block(InBlock),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct InBlock {
    /// Which super block.
    nth: u32,
    block: SuperBlock,
    /// Which data block of it.
    data: u64,
    /// Which page of that; zero if it has none.
    page: u64,
    /// The number of the first element of the page, or of the data block without pages.
    first: u64,
}

type Changes<'a> = [(ElementAt, &'a (u64, ChunkEntry))];

impl ChunkArray {
    /// A new array of this shape.
    pub fn create<'f>(file: impl Into<Owned<'f>>, shape: ArrayShape, element: ChunkElement) -> Result<ChunkArray> {
        let file = file.into();
        let ArrayShape { count_bits, in_index, min_blocks, min_elements, page_bits } = shape;
        let header = ExtensibleArray {
            version: element.client().version(),
            client: element.client(),
            element_size: u8::try_from(element.size(file.widths())).unwrap_or(u8::MAX),
            count_bits,
            in_index,
            min_elements,
            min_blocks,
            page_bits,
            usage: Usage::default(),
            used: 0,
            index: None,
        };
        let bytes = header.encode(file.widths())?;
        let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
        file.put(address, bytes)?;
        Ok(ChunkArray {
            address,
            owner: file.owner(),
            header,
            element,
            index: None,
            supers: NodeCache::new(),
            blocks: NodeCache::new(),
        })
    }

    /// The chunk with this number from now on, or that there is none.
    pub fn set(&mut self, file: &OpenFile, number: u64, chunk: Option<ChunkEntry>) -> Result<()> {
        self.set_all(file, &[(number, chunk.unwrap_or_else(|| self.element.nothing()))])
    }

    /// The chunks with these numbers from now on; an entry without an address takes a chunk out. Each block is written once.
    pub fn set_all(&mut self, file: &OpenFile, chunks: &[(u64, ChunkEntry)]) -> Result<()> {
        let mut changes = Vec::with_capacity(chunks.len());
        for change in numbered(chunks) {
            // Nothing is to be taken out where no chunk was ever put.
            if change.1.address.is_some() || change.0 < self.header.used {
                changes.push((self.element_at(change.0)?, change));
            }
        }
        let before = self.header;
        let Some((_, (last, _))) =
            changes.iter().rev().find(|(_, (_, chunk))| chunk.address.is_some()).or(changes.last())
        else {
            return Ok(());
        };
        self.header.used = self.header.used.max(last + 1);
        // The index block is changed apart from the array, which is asked for its shape meanwhile.
        let mut index = match self.index.take() {
            Some(index) => index,
            None => self.make_index(file)?,
        };
        let mut index_changed = before.index.is_none();
        let set = self.set_in(file, &mut index, &changes, &mut index_changed);
        if set.is_ok() && index_changed {
            let bytes =
                extensible_array::encode_index(&index, &self.header, self.element, self.address, file.widths())?;
            file.owned(self.owner).put(self.header.index.unwrap_or(0), bytes)?;
        }
        self.index = Some(index);
        set?;
        if self.header != before {
            file.owned(self.owner).put(self.address, self.header.encode(file.widths())?)?;
            file.order_within(self.header.index.unwrap_or(0), self.address)?;
        }
        Ok(())
    }

    fn set_in(
        &mut self,
        file: &OpenFile,
        index: &mut IndexBlock,
        changes: &Changes<'_>,
        index_changed: &mut bool,
    ) -> Result<()> {
        let nth = |at: &ElementAt| if let ElementAt::Block(place) = at { Some(place.nth) } else { None };
        for together in changes.chunk_by(|left, right| nth(&left.0) == nth(&right.0)) {
            match together.first().map(|(at, _)| *at) {
                Some(ElementAt::Block(place)) if place.nth >= self.header.direct_super_blocks() => {
                    self.set_in_super(file, index, &place, together, index_changed)?;
                }
                Some(ElementAt::Block(_)) => self.set_in_direct(file, index, together, index_changed)?,
                _ => {
                    apply(&mut index.elements, together.iter().map(|change| change.1), 0, self.element);
                    *index_changed = true;
                }
            }
        }
        Ok(())
    }

    /// Changes elements of data blocks that the index block names.
    fn set_in_direct(
        &mut self,
        file: &OpenFile,
        index: &mut IndexBlock,
        changes: &Changes<'_>,
        index_changed: &mut bool,
    ) -> Result<()> {
        for together in changes.chunk_by(|left, right| left.0 == right.0) {
            let Some((ElementAt::Block(place), _)) = together.first() else { continue };
            if self.header.pages(place.block.elements) > 0 {
                let why = "data blocks of the index block with pages, which no reader could find";
                return Err(Error::broken(WHAT, self.address, why));
            }
            let slot = usize::try_from(place.block.first_block + place.data).unwrap_or(usize::MAX);
            let Some(slot) = index.data.get_mut(slot) else { continue };
            if slot.is_none() && is_removal(together) {
                continue;
            }
            let is_new = slot.is_none();
            let address = slot.map_or_else(|| self.make_data(file, place), Ok)?;
            self.set_elements(file, address, place, together, is_new)?;
            *slot = Some(address);
            *index_changed |= is_new;
        }
        Ok(())
    }

    /// Changes elements of data blocks of one super block.
    fn set_in_super(
        &mut self,
        file: &OpenFile,
        index: &mut IndexBlock,
        place: &InBlock,
        changes: &Changes<'_>,
        index_changed: &mut bool,
    ) -> Result<()> {
        let (block, pages) = (place.block, self.header.pages(place.block.elements));
        let above = (place.nth - self.header.direct_super_blocks()) as usize;
        let Some(slot) = index.supers.get_mut(above) else { return Ok(()) };
        if slot.is_none() && is_removal(changes) {
            return Ok(());
        }
        let mut changed = slot.is_none();
        let (address, mut entries) = match *slot {
            Some(address) => {
                let kept = self.supers.take(address);
                (address, kept.map_or_else(|| self.read_super(file, address, &block), Ok)?)
            }
            None => self.make_super(file, &block)?,
        };
        *slot = Some(address);
        *index_changed |= changed;
        let mut new_pages = Vec::new();
        for together in changes.chunk_by(|left, right| left.0 == right.0) {
            let Some((ElementAt::Block(place), _)) = together.first() else { continue };
            let data = usize::try_from(place.data).unwrap_or(usize::MAX);
            let Some((slot, written)) = entries.get_mut(data) else { continue };
            if slot.is_none() && is_removal(together) {
                continue;
            }
            let mut is_new = slot.is_none();
            let mut at = slot.map_or_else(|| self.make_data(file, place), Ok)?;
            *slot = Some(at);
            changed |= is_new;
            if pages > 0 {
                at = self.page_address(file, at, &block, place.page);
                let Some(bit) = written.get_mut(usize::try_from(place.page).unwrap_or(usize::MAX)) else { continue };
                is_new = !*bit;
                if is_new && is_removal(together) {
                    continue;
                }
                if is_new {
                    (*bit, changed) = (true, true);
                    new_pages.push(at);
                }
            }
            self.set_elements(file, at, place, together, is_new)?;
        }
        if changed {
            let bytes = extensible_array::encode_super(&entries, &self.header, &block, self.address, file.widths())?;
            file.owned(self.owner).put(address, bytes)?;
            new_pages.into_iter().try_for_each(|page| file.order_within(page, address))?;
        }
        self.supers.keep(address, entries);
        Ok(())
    }

    /// Changes elements of one page, or of one data block without pages.
    fn set_elements(
        &mut self,
        file: &OpenFile,
        address: u64,
        place: &InBlock,
        changes: &Changes<'_>,
        is_new: bool,
    ) -> Result<()> {
        let (widths, pages) = (file.widths(), self.header.pages(place.block.elements));
        let count = if pages > 0 { self.header.page() } else { place.block.elements };
        let mut entries = match self.blocks.take(address) {
            Some(entries) if !is_new => entries,
            _ if is_new => nothings(WHAT, self.address, count, self.element)?,
            _ if pages > 0 => self.read_page(file, address)?,
            _ => self.read_data(file, address, &place.block)?,
        };
        apply(&mut entries, changes.iter().map(|change| change.1), place.first, self.element);
        let bytes = match pages {
            0 => {
                let offset = self.header.data_offset(place.nth, place.data).unwrap_or(0);
                extensible_array::encode_data(&entries, &self.header, self.element, offset, self.address, widths)?
            }
            _ => extensible_array::encode_page(&entries, &self.header, self.element, widths)?,
        };
        file.owned(self.owner).put(address, bytes)?;
        self.blocks.keep(address, entries);
        Ok(())
    }

    fn make_index(&mut self, file: &OpenFile) -> Result<IndexBlock> {
        let length = self.header.index_size(self.element, file.widths()) as u64;
        self.header.index = Some(file.allocate(Kind::Metadata, length)?);
        self.header.usage.elements += u64::from(self.header.in_index);
        Ok(IndexBlock {
            elements: nothings(WHAT, self.address, self.header.in_index.into(), self.element)?,
            data: vec![None; usize::try_from(self.header.direct_blocks()).unwrap_or(0)],
            supers: vec![None; self.header.indirect_super_blocks() as usize],
        })
    }

    fn make_super(&mut self, file: &OpenFile, block: &SuperBlock) -> Result<(u64, SuperEntries)> {
        let length = self.header.super_size(block, file.widths());
        let pages = usize::try_from(self.header.pages(block.elements)).unwrap_or(usize::MAX);
        let memory = || Error::Memory { what: WHAT, address: self.address, length };
        let blocks = usize::try_from(block.blocks).map_err(|_| memory())?;
        // A bit of a page is a byte in memory.
        if blocks.checked_mul(pages.max(1)).is_none_or(|bits| bits > 1 << 32) {
            return Err(memory());
        }
        let address = file.allocate(Kind::Metadata, length)?;
        let usage = &mut self.header.usage;
        usage.super_blocks += 1;
        usage.super_bytes = usage.super_bytes.saturating_add(length);
        Ok((address, vec![(None, vec![false; pages]); blocks]))
    }

    /// Space for a data block; if it has pages, what stands before them is put there.
    fn make_data(&mut self, file: &OpenFile, place: &InBlock) -> Result<u64> {
        let length = self.data_size(file, &place.block);
        let address = file.allocate(Kind::Metadata, length)?;
        if self.header.pages(place.block.elements) > 0 {
            let offset = self.header.data_offset(place.nth, place.data).unwrap_or(0);
            let head = extensible_array::encode_paged_head(&self.header, offset, self.address, file.widths())?;
            file.owned(self.owner).put(address, head)?;
        }
        let usage = &mut self.header.usage;
        usage.data_blocks += 1;
        usage.data_bytes = usage.data_bytes.saturating_add(length);
        usage.elements = usage.elements.saturating_add(place.block.elements);
        Ok(address)
    }

    /// Where an element is; an error if the array cannot grow so far.
    fn element_at(&self, number: u64) -> Result<ElementAt> {
        let Some(behind) = number.checked_sub(u64::from(self.header.in_index)) else { return Ok(ElementAt::Index) };
        let inside = |(_, block): &(u32, SuperBlock)| {
            block.blocks.checked_mul(block.elements).is_some_and(|all| behind - block.first < all)
        };
        let Some((nth, block)) = self.holding(behind).filter(inside) else {
            let why = format!("chunk {number}, more than the array can ever hold");
            return Err(Error::broken(WHAT, self.address, why));
        };
        let (data, within) = ((behind - block.first) / block.elements, (behind - block.first) % block.elements);
        let (page, within) = match self.header.pages(block.elements) {
            0 => (0, within),
            _ => (within / self.header.page(), within % self.header.page()),
        };
        Ok(ElementAt::Block(InBlock { nth, block, data, page, first: number - within }))
    }

    /// Gives the array's space back; the chunks keep theirs.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        self.for_each_block(file, &mut |block, _, address, _| file.free(address, self.data_size(file, block)))?;
        let supers = self.index.iter().flat_map(|index| &index.supers);
        for (nth, address) in (self.header.direct_super_blocks()..).zip(supers) {
            if let (Some(address), Some(block)) = (address, self.header.super_block(nth)) {
                file.free(*address, self.header.super_size(&block, file.widths()))?;
            }
        }
        if let Some(index) = self.header.index {
            file.free(index, self.header.index_size(self.element, file.widths()) as u64)?;
        }
        file.free(self.address, ExtensibleArray::size(file.widths()) as u64)
    }
}

fn is_removal(changes: &Changes<'_>) -> bool {
    changes.iter().all(|(_, (_, chunk))| chunk.address.is_none())
}
