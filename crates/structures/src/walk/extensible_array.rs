//! Extensible arrays.

use hyperslab_file::{Block, OpenFile, Survey};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        extensible_array::{ExtensibleArray, SuperBlock, Usage},
    },
};

use super::EachChunk;
use crate::chunks::{
    extensible_array::blocks::{self, Data, Head, Header, Index, Page, Super},
    mismatch,
};

const WHAT: &str = Header::WHAT;
const DATA: &str = Data::WHAT;

struct Walk<'a, 'b> {
    file: &'a OpenFile,
    header: ExtensibleArray,
    element: ChunkElement,
    /// What there is of it.
    has: Usage,
    survey: &'a mut dyn Survey,
    each: &'a mut EachChunk<'b>,
}

/// Shows the array at `address` and all its elements.
pub fn extensible_array(
    file: &OpenFile,
    address: u64,
    element: ChunkElement,
    survey: &mut dyn Survey,
    each: &mut EachChunk<'_>,
) -> Option<()> {
    let widths = file.widths();
    let size = ExtensibleArray::size(widths) as u64;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let header = survey.found(WHAT, address, file.load_once(&Header, address))?;
    if let Some(why) = mismatch((header.client, header.element_size), element, widths) {
        survey.problem(WHAT, address, why);
        return None;
    }
    let has = Usage { elements: u64::from(header.in_index), ..Usage::default() };
    let mut walk = Walk { file, header, element, has, survey, each };
    walk.index(header.index?)?;
    let (says, has) = (header.usage, walk.has);
    survey.statistic(WHAT, address, "super blocks", says.super_blocks, has.super_blocks);
    survey.statistic(WHAT, address, "bytes of super blocks", says.super_bytes, has.super_bytes);
    survey.statistic(WHAT, address, "data blocks", says.data_blocks, has.data_blocks);
    survey.statistic(WHAT, address, "bytes of data blocks", says.data_bytes, has.data_bytes);
    survey.statistic(WHAT, address, "places for elements", says.elements, has.elements);
    Some(())
}

impl Walk<'_, '_> {
    /// The index block and all below it; nothing if not all could be seen.
    fn index(&mut self, address: u64) -> Option<()> {
        let (header, widths) = (self.header, self.file.widths());
        let size = header.index_size(self.element, widths) as u64;
        if !self.survey.block(Index::WHAT, address, size) {
            return None;
        }
        let index = self.file.load_once(&Index(&header, self.element), address);
        let index = self.survey.found(Index::WHAT, address, index)?;
        self.elements(0, &index.elements);
        let (mut direct, mut supers, mut whole) = (index.data.iter(), index.supers.iter(), Some(()));
        for nth in 0..header.super_blocks() {
            let Some(block) = header.super_block(nth) else { break };
            if nth < header.direct_super_blocks() {
                for (data, address) in (0..block.blocks).zip(direct.by_ref()) {
                    if let Some(address) = address {
                        whole = whole.and(self.data(*address, &block, data, &[]));
                    }
                }
            } else if let Some(address) = supers.next().copied().flatten() {
                whole = whole.and(self.super_block(address, &block));
            }
        }
        whole
    }

    fn super_block(&mut self, address: u64, block: &SuperBlock) -> Option<()> {
        let size = self.header.super_size(block, self.file.widths());
        if !self.survey.block(Super::WHAT, address, size) {
            return None;
        }
        let blocks = self.file.load_once(&Super(&self.header, block), address);
        let blocks = self.survey.found(Super::WHAT, address, blocks)?;
        self.has.super_blocks += 1;
        self.has.super_bytes = self.has.super_bytes.saturating_add(size);
        let mut whole = Some(());
        for (nth, (address, written)) in (0..).zip(&blocks) {
            if let Some(address) = address {
                whole = whole.and(self.data(*address, block, nth, written));
            }
        }
        whole
    }

    fn data(&mut self, address: u64, block: &SuperBlock, nth: u64, written: &[bool]) -> Option<()> {
        let (header, widths) = (self.header, self.file.widths());
        let (head, pages) = (header.data_head(block.elements, widths), header.pages(block.elements));
        let size = blocks::data_size(self.file, &header, block, self.element);
        if !self.survey.block(DATA, address, size) {
            return None;
        }
        self.has.data_blocks += 1;
        self.has.data_bytes = self.has.data_bytes.saturating_add(size);
        self.has.elements = self.has.elements.saturating_add(block.elements);
        let first = block.first.saturating_add(nth.saturating_mul(block.elements));
        let first = first.saturating_add(u64::from(header.in_index));
        if pages == 0 {
            let entries = self.file.load_once(&Data(&header, block, self.element), address);
            let entries = self.survey.found(DATA, address, entries)?;
            self.elements(first, &entries);
            return Some(());
        }
        self.survey.found(DATA, address, self.file.load_once(&Head(&header, block), address));
        let page_size = blocks::size(self.file, self.element, header.page());
        for (page, _) in (0..pages).zip(written).filter(|(_, written)| **written) {
            let at = address.saturating_add(head).saturating_add(page.saturating_mul(page_size));
            let entries = self.file.load_once(&Page(&header, self.element), at);
            if let Some(entries) = self.survey.found(Page::WHAT, at, entries) {
                self.elements(first.saturating_add(page.saturating_mul(header.page())), &entries);
            }
        }
        Some(())
    }

    fn elements(&mut self, first: u64, entries: &[ChunkEntry]) {
        (first..).zip(entries).for_each(|(number, entry)| (self.each)(self.survey, Some(number), entry));
    }
}
