//! Chunks in an extensible array, by number.

pub(crate) mod blocks;
mod change;

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Owned, Owner, Result};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        extensible_array::{ExtensibleArray, IndexBlock, SuperBlock},
    },
};

use self::blocks::{Data, Header, Index, Page, Super};
use super::mismatch;
use crate::node_cache::NodeCache;

const WHAT: &str = "extensible array";

/// Gets a super block, which data block of it, where that is and which of its pages were ever written.
type EachBlock<'a> = dyn FnMut(&SuperBlock, u64, u64, &[bool]) -> Result<()> + 'a;

/// An array of chunks.
#[derive(Debug)]
pub struct ChunkArray {
    address: u64,
    /// The object that it belongs to.
    owner: Owner,
    header: ExtensibleArray,
    element: ChunkElement,
    index: Option<IndexBlock>,
    supers: NodeCache<Vec<(Option<u64>, Vec<bool>)>>,
    blocks: NodeCache<Vec<ChunkEntry>>,
}

impl ChunkArray {
    /// The array at `address`.
    pub fn open<'f>(file: impl Into<Owned<'f>>, address: u64, element: ChunkElement) -> Result<ChunkArray> {
        let file = file.into();
        let widths = file.widths();
        let header = file.load_once(&Header, address)?;
        if let Some(why) = mismatch((header.client, header.element_size), element, widths) {
            return Err(Error::broken(WHAT, address, why));
        }
        let index = header.index.map(|place| file.load_once(&Index(&header, element), place)).transpose()?;
        Ok(ChunkArray {
            address,
            owner: file.owner(),
            header,
            element,
            index,
            supers: NodeCache::new(),
            blocks: NodeCache::new(),
        })
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// One more than the highest number of a chunk ever written.
    pub fn len(&self) -> u64 {
        self.header.used
    }

    /// Whether no chunk was ever written.
    pub fn is_empty(&self) -> bool {
        self.header.used == 0
    }

    /// The chunk with this number.
    pub fn get(&self, file: &OpenFile, number: u64) -> Result<Option<ChunkEntry>> {
        let Some(index) = self.index.as_ref().filter(|_| number < self.header.used) else { return Ok(None) };
        if let Some(entry) = usize::try_from(number).ok().and_then(|number| index.elements.get(number)) {
            return Ok(some(entry));
        }
        let place = number - u64::from(self.header.in_index);
        let Some((nth, block)) = self.holding(place) else { return Ok(None) };
        let within = place - block.first;
        let (data, offset) = (within / block.elements, within % block.elements);
        if nth < self.header.direct_super_blocks() {
            let all = usize::try_from(block.first_block + data).ok();
            let address = all.and_then(|data| index.data.get(data)).copied().flatten();
            return address.map_or(Ok(None), |address| self.in_block(file, address, &block, &[], offset));
        }
        let above = (nth - self.header.direct_super_blocks()) as usize;
        let Some(address) = index.supers.get(above).copied().flatten() else { return Ok(None) };
        let blocks = self.supers.get_or(address, || self.read_super(file, address, &block))?;
        match usize::try_from(data).ok().and_then(|data| blocks.get(data)) {
            Some((Some(address), written)) => self.in_block(file, *address, &block, written, offset),
            _ => Ok(None),
        }
    }

    /// The super block that holds a place, counted behind the index block.
    fn holding(&self, place: u64) -> Option<(u32, SuperBlock)> {
        let numbered = |nth| self.header.super_block(nth).map(|block| (nth, block));
        (0..self.header.super_blocks()).map_while(numbered).take_while(|(_, block)| block.first <= place).last()
    }

    fn in_block(
        &self,
        file: &OpenFile,
        address: u64,
        block: &SuperBlock,
        written: &[bool],
        offset: u64,
    ) -> Result<Option<ChunkEntry>> {
        let (entries, place) = match self.header.pages(block.elements) {
            0 => (Some(self.data_block(file, address, block)?), offset),
            _ => {
                let page = offset / self.header.page();
                (self.page(file, address, block, written, page)?, offset % self.header.page())
            }
        };
        let place = usize::try_from(place).ok();
        Ok(entries.and_then(|entries| entries.get(place?).and_then(some)))
    }

    /// All elements of a data block without pages.
    fn data_block(&self, file: &OpenFile, address: u64, block: &SuperBlock) -> Result<Arc<Vec<ChunkEntry>>> {
        self.blocks.get_or(address, || self.read_data(file, address, block))
    }

    fn read_data(&self, file: &OpenFile, address: u64, block: &SuperBlock) -> Result<Vec<ChunkEntry>> {
        file.load_once(&Data(&self.header, block, self.element), address)
    }

    /// A page of a data block, if it was ever written.
    fn page(
        &self,
        file: &OpenFile,
        address: u64,
        block: &SuperBlock,
        written: &[bool],
        page: u64,
    ) -> Result<Option<Arc<Vec<ChunkEntry>>>> {
        if usize::try_from(page).ok().and_then(|page| written.get(page)) != Some(&true) {
            return Ok(None);
        }
        let at = self.page_address(file, address, block, page);
        Ok(Some(self.blocks.get_or(at, || self.read_page(file, at))?))
    }

    fn read_page(&self, file: &OpenFile, at: u64) -> Result<Vec<ChunkEntry>> {
        file.load_once(&Page(&self.header, self.element), at)
    }

    fn page_address(&self, file: &OpenFile, data: u64, block: &SuperBlock, page: u64) -> u64 {
        let before = page.saturating_mul(blocks::size(file, self.element, self.header.page()));
        data.saturating_add(self.header.data_head(block.elements, file.widths())).saturating_add(before)
    }

    /// What a data block takes, pages included.
    fn data_size(&self, file: &OpenFile, block: &SuperBlock) -> u64 {
        blocks::data_size(file, &self.header, block, self.element)
    }

    /// Calls `each` for every element that the file holds, by rising number; the address of some may be undefined.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(u64, &ChunkEntry) -> Result<()>) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let mut all =
            |first: u64, entries: &[ChunkEntry]| (first..).zip(entries).try_for_each(|(nth, entry)| each(nth, entry));
        all(0, &index.elements)?;
        self.for_each_block(file, &mut |block, nth, address, written| {
            let first = block.first.saturating_add(nth.saturating_mul(block.elements));
            let first = first.saturating_add(u64::from(self.header.in_index));
            if self.header.pages(block.elements) == 0 {
                return all(first, &self.data_block(file, address, block)?);
            }
            for page in 0..written.len() as u64 {
                if let Some(entries) = self.page(file, address, block, written, page)? {
                    all(first.saturating_add(page.saturating_mul(self.header.page())), &entries)?;
                }
            }
            Ok(())
        })
    }

    /// Calls `each` with every data block.
    fn for_each_block(&self, file: &OpenFile, each: &mut EachBlock<'_>) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let (mut direct, mut supers) = (index.data.iter(), index.supers.iter());
        for nth in 0..self.header.super_blocks() {
            let Some(block) = self.header.super_block(nth) else { break };
            if nth < self.header.direct_super_blocks() {
                for (data, address) in (0..block.blocks).zip(direct.by_ref()) {
                    address.map_or(Ok(()), |address| each(&block, data, address, &[]))?;
                }
            } else if let Some(address) = supers.next().copied().flatten() {
                let blocks = self.supers.get_or(address, || self.read_super(file, address, &block))?;
                for (data, (address, written)) in (0..).zip(blocks.iter()) {
                    address.map_or(Ok(()), |address| each(&block, data, address, written))?;
                }
            }
        }
        Ok(())
    }

    fn read_super(&self, file: &OpenFile, address: u64, block: &SuperBlock) -> Result<Vec<(Option<u64>, Vec<bool>)>> {
        file.load_once(&Super(&self.header, block), address)
    }
}

/// An entry that names a chunk.
fn some(entry: &ChunkEntry) -> Option<ChunkEntry> {
    entry.address.is_some().then(|| entry.clone())
}
