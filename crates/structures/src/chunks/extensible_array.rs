//! Chunks in an extensible array, by number.

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        extensible_array::{self, ExtensibleArray, IndexBlock, SuperBlock},
    },
};

use crate::kept::Kept;

const WHAT: &str = "extensible array";
/// Blocks and pages that stay decoded.
const BLOCKS: usize = 256;

/// An array of chunks.
#[derive(Debug)]
pub struct ChunkArray {
    header: ExtensibleArray,
    element: ChunkElement,
    index: Option<IndexBlock>,
    supers: Kept<Vec<(Option<u64>, Vec<bool>)>>,
    blocks: Kept<Vec<ChunkEntry>>,
}

impl ChunkArray {
    /// The array at `address`.
    pub fn open(file: &OpenFile, address: u64, element: ChunkElement) -> Result<ChunkArray> {
        let widths = file.widths();
        let bytes = file.metadata(WHAT, address, ExtensibleArray::size(widths) as u64)?;
        let header = ExtensibleArray::decode(&bytes, widths).map_err(Error::at(address))?;
        if usize::from(header.element_size) != element.size(widths) {
            let why = format!("elements of {} bytes where {} belong", header.element_size, element.size(widths));
            return Err(Error::broken(WHAT, address, why));
        }
        let mut index = None;
        if let Some(place) = header.index {
            let bytes =
                file.metadata("extensible array index block", place, header.index_size(element, widths) as u64)?;
            index = Some(extensible_array::decode_index(&bytes, &header, element, widths).map_err(Error::at(place))?);
        }
        Ok(ChunkArray { header, element, index, supers: Kept::new(BLOCKS), blocks: Kept::new(BLOCKS) })
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
        let widths = file.widths();
        self.blocks.get_or(address, || {
            let length = self.header.data_head(block.elements, widths).saturating_add(self.size(file, block.elements));
            let bytes = file.metadata("extensible array data block", address, length)?;
            extensible_array::decode_data(&bytes, &self.header, block.elements, self.element, widths)
                .map_err(Error::at(address))
        })
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
        let (widths, size) = (file.widths(), self.size(file, self.header.page()));
        let before = self.header.data_head(block.elements, widths).saturating_add(page.saturating_mul(size));
        let at = address.saturating_add(before);
        let entries = self.blocks.get_or(at, || {
            let bytes = file.metadata("extensible array page", at, size)?;
            extensible_array::decode_page(&bytes, &self.header, self.element, widths).map_err(Error::at(at))
        })?;
        Ok(Some(entries))
    }

    /// What so many elements and their checksum take.
    fn size(&self, file: &OpenFile, elements: u64) -> u64 {
        elements.saturating_mul(self.element.size(file.widths()) as u64).saturating_add(4)
    }

    /// Calls `each` for every element that the file holds, by rising number; the address of some may be undefined.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(u64, &ChunkEntry) -> Result<()>) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let mut all =
            |first: u64, entries: &[ChunkEntry]| (first..).zip(entries).try_for_each(|(nth, entry)| each(nth, entry));
        all(0, &index.elements)?;
        let mut direct = index.data.iter();
        let mut supers = index.supers.iter();
        for nth in 0..self.header.super_blocks() {
            let Some(block) = self.header.super_block(nth) else { break };
            let blocks: Vec<(Option<u64>, Vec<bool>)> = if nth < self.header.direct_super_blocks() {
                let named = usize::try_from(block.blocks).unwrap_or(usize::MAX);
                direct.by_ref().take(named).map(|&address| (address, Vec::new())).collect()
            } else {
                match supers.next().copied().flatten() {
                    Some(address) => self.supers.get_or(address, || self.read_super(file, address, &block))?.to_vec(),
                    None => Vec::new(),
                }
            };
            let first = block.first.saturating_add(self.header.in_index.into());
            for (nth, (address, written)) in (0u64..).zip(blocks) {
                let Some(address) = address else { continue };
                let first = first.saturating_add(nth.saturating_mul(block.elements));
                if self.header.pages(block.elements) == 0 {
                    all(first, &self.data_block(file, address, &block)?)?;
                    continue;
                }
                for page in 0..written.len() as u64 {
                    if let Some(entries) = self.page(file, address, &block, &written, page)? {
                        all(first.saturating_add(page.saturating_mul(self.header.page())), &entries)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn read_super(&self, file: &OpenFile, address: u64, block: &SuperBlock) -> Result<Vec<(Option<u64>, Vec<bool>)>> {
        let size = self.header.super_size(block, file.widths());
        let bytes = file.metadata("extensible array super block", address, size)?;
        extensible_array::decode_super(&bytes, &self.header, block, file.widths()).map_err(Error::at(address))
    }
}

/// An entry that names a chunk.
fn some(entry: &ChunkEntry) -> Option<ChunkEntry> {
    entry.address.is_some().then(|| entry.clone())
}
