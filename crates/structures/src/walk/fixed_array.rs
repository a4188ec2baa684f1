//! Fixed arrays.

use hyperslab_file::{Block, OpenFile, Survey};
use hyperslab_format::{
    ChunkEntry,
    index::{ChunkElement, fixed_array::FixedArray},
};

use super::EachChunk;
use crate::chunks::{
    fixed_array::blocks::{self, Data, Head, Header, Page},
    mismatch,
};

const WHAT: &str = Header::WHAT;
const DATA: &str = Head::WHAT;

/// Shows the array at `address` and all its elements; says how many it has.
pub fn fixed_array(
    file: &OpenFile,
    address: u64,
    element: ChunkElement,
    survey: &mut dyn Survey,
    each: &mut EachChunk<'_>,
) -> Option<u64> {
    let widths = file.widths();
    let size = FixedArray::size(widths) as u64;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let header = survey.found(WHAT, address, file.load_once(&Header, address))?;
    if let Some(why) = mismatch((header.client, header.element_size), element, widths) {
        survey.problem(WHAT, address, why);
        return None;
    }
    let Some(data) = header.data else { return Some(header.elements) };
    let taken = |elements: u64| blocks::size(file, element, elements);
    let (head, pages) = (header.data_head(widths), header.pages());
    let (full, rest) = (header.elements / header.page(), header.elements % header.page());
    let length = match pages {
        0 => head.saturating_add(taken(header.elements)),
        _ => head.saturating_add(full.saturating_mul(taken(header.page()))).saturating_add(if rest > 0 {
            taken(rest)
        } else {
            0
        }),
    };
    if !survey.block(DATA, data, length) {
        return None;
    }
    let mut all = |survey: &mut dyn Survey, first: u64, entries: Vec<ChunkEntry>| {
        (first..).zip(&entries).for_each(|(number, entry)| each(survey, Some(number), entry));
    };
    if pages == 0 {
        let entries = survey.found(DATA, data, file.load_once(&Data(&header, element), data))?;
        all(survey, 0, entries);
        return Some(header.elements);
    }
    let written = survey.found(DATA, data, file.load_once(&Head(&header), data))?;
    for (page, _) in (0..pages).zip(written).filter(|(_, written)| *written) {
        let first = page.saturating_mul(header.page());
        let count = header.elements.saturating_sub(first).min(header.page());
        let at = data.saturating_add(head).saturating_add(page.saturating_mul(taken(header.page())));
        if let Some(entries) = survey.found(Page::WHAT, at, file.load_once(&Page(count, element), at)) {
            all(survey, first, entries);
        }
    }
    Some(header.elements)
}
