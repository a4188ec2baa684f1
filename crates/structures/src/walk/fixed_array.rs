//! Fixed arrays.

use hyperslab_file::{Error, OpenFile, Survey};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        fixed_array::{self, FixedArray},
    },
};

use super::EachChunk;

const WHAT: &str = "fixed array";
const DATA: &str = "fixed array data block";

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
    let bytes = file.metadata(WHAT, address, size);
    let header = bytes.and_then(|bytes| FixedArray::decode(&bytes, widths).map_err(Error::at(address)));
    let header = survey.found(WHAT, address, header)?;
    if usize::from(header.element_size) != element.size(widths) {
        let why = format!("elements of {} bytes where {} belong", header.element_size, element.size(widths));
        survey.problem(WHAT, address, why);
        return None;
    }
    let Some(data) = header.data else { return Some(header.elements) };
    let taken = |elements: u64| elements.saturating_mul(element.size(widths) as u64).saturating_add(4);
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
        let entries = file
            .metadata(DATA, data, length)
            .and_then(|bytes| fixed_array::decode_data(&bytes, &header, element, widths).map_err(Error::at(data)));
        let entries = survey.found(DATA, data, entries)?;
        all(survey, 0, entries);
        return Some(header.elements);
    }
    let written = file.metadata(DATA, data, head);
    let written = written.and_then(|bytes| fixed_array::decode_head(&bytes, &header, widths).map_err(Error::at(data)));
    let written = survey.found(DATA, data, written)?;
    for (page, _) in (0..pages).zip(written).filter(|(_, written)| *written) {
        let first = page.saturating_mul(header.page());
        let count = header.elements.saturating_sub(first).min(header.page());
        let at = data.saturating_add(head).saturating_add(page.saturating_mul(taken(header.page())));
        let entries = file
            .metadata("fixed array page", at, taken(count))
            .and_then(|bytes| fixed_array::decode_page(&bytes, count, element, widths).map_err(Error::at(at)));
        if let Some(entries) = survey.found("fixed array page", at, entries) {
            all(survey, first, entries);
        }
    }
    Some(header.elements)
}
