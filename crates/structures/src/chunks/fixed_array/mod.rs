//! Chunks in a fixed array, by number.

pub(crate) mod blocks;
mod change;

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Owned, Owner, Result};
use hyperslab_format::{
    ChunkEntry,
    index::{ChunkElement, fixed_array::FixedArray},
};

use self::blocks::{Data, Head, Header, Page};
use super::mismatch;
use crate::node_cache::NodeCache;

const WHAT: &str = "fixed array";

/// An array of chunks.
#[derive(Debug)]
pub struct ChunkArray {
    address: u64,
    /// The object that it belongs to.
    owner: Owner,
    header: FixedArray,
    element: ChunkElement,
    /// Which pages were ever written; none if the array has no pages.
    written: Vec<bool>,
    pages: NodeCache<Vec<ChunkEntry>>,
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
        let mut written = Vec::new();
        if let Some(data) = header.data {
            written = file.load_once(&Head(&header), data)?;
        }
        Ok(ChunkArray { address, owner: file.owner(), header, element, written, pages: NodeCache::new() })
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many chunks there can be.
    pub fn len(&self) -> u64 {
        self.header.elements
    }

    /// Whether there can be none.
    pub fn is_empty(&self) -> bool {
        self.header.elements == 0
    }

    /// The chunk with this number.
    pub fn get(&self, file: &OpenFile, number: u64) -> Result<Option<ChunkEntry>> {
        let Some(data) = self.header.data.filter(|_| number < self.header.elements) else { return Ok(None) };
        let (page, place) = match self.header.pages() {
            0 => (None, number),
            _ => (Some(number / self.header.page()), number % self.header.page()),
        };
        let entries = match page {
            None => self.pages.get_or(0, || self.whole(file, data))?,
            Some(page) => match self.page(file, data, page)? {
                Some(entries) => entries,
                None => return Ok(None),
            },
        };
        Ok(usize::try_from(place)
            .ok()
            .and_then(|place| entries.get(place))
            .filter(|entry| entry.address.is_some())
            .cloned())
    }

    /// Calls `each` for every element that the file holds, by rising number; the address of some may be undefined.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(u64, &ChunkEntry) -> Result<()>) -> Result<()> {
        let Some(data) = self.header.data else { return Ok(()) };
        let mut all =
            |first: u64, entries: &[ChunkEntry]| (first..).zip(entries).try_for_each(|(nth, entry)| each(nth, entry));
        if self.header.pages() == 0 {
            return all(0, &self.pages.get_or(0, || self.whole(file, data))?);
        }
        for page in 0..self.written.len() as u64 {
            if let Some(entries) = self.page(file, data, page)? {
                all(page.saturating_mul(self.header.page()), &entries)?;
            }
        }
        Ok(())
    }

    fn whole(&self, file: &OpenFile, data: u64) -> Result<Vec<ChunkEntry>> {
        file.load_once(&Data(&self.header, self.element), data)
    }

    fn page(&self, file: &OpenFile, data: u64, page: u64) -> Result<Option<Arc<Vec<ChunkEntry>>>> {
        let written = usize::try_from(page).ok().and_then(|page| self.written.get(page));
        if written != Some(&true) {
            return Ok(None);
        }
        let entries = self.pages.get_or(page, || self.read_page(file, data, page))?;
        Ok(Some(entries))
    }

    fn read_page(&self, file: &OpenFile, data: u64, page: u64) -> Result<Vec<ChunkEntry>> {
        file.load_once(&Page(self.page_elements(page), self.element), self.page_address(file, data, page))
    }

    fn page_address(&self, file: &OpenFile, data: u64, page: u64) -> u64 {
        let before = page.saturating_mul(self.size(file, self.header.page()));
        data.saturating_add(self.header.data_head(file.widths())).saturating_add(before)
    }

    /// How many elements a page has: the last one has the rest.
    fn page_elements(&self, page: u64) -> u64 {
        self.header.elements.saturating_sub(page.saturating_mul(self.header.page())).min(self.header.page())
    }

    /// What so many elements and their checksum take.
    fn size(&self, file: &OpenFile, elements: u64) -> u64 {
        blocks::size(file, self.element, elements)
    }
}
