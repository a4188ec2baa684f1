//! Local heaps.

use hyperslab_file::{Error, OpenFile, Survey};
use hyperslab_format::heap;

use crate::LocalHeap;

const WHAT: &str = "local heap";

/// Shows the heap at `address` and its data; gives it if it can be read.
pub fn local_heap(file: &OpenFile, address: u64, survey: &mut dyn Survey) -> Option<LocalHeap> {
    let widths = file.widths();
    let size = heap::LocalHeap::size(widths) as u64;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let head = file.metadata(WHAT, address, size);
    let head = head.and_then(|head| heap::LocalHeap::decode(&head, widths).map_err(Error::at(address)));
    let head = survey.found(WHAT, address, head)?;
    let data = head.data?;
    if head.size == 0 || !survey.block("local heap data", data, head.size) {
        return None;
    }
    let bytes = survey.found(WHAT, address, file.metadata(WHAT, data, head.size))?;
    let free = heap::local::decode_free(&bytes, head.free, widths).map_err(Error::at(address));
    if let Some(mut free) = survey.found(WHAT, address, free) {
        free.sort_by_key(|block| block.start);
        let overlap = free.windows(2).any(|pair| matches!(pair, [left, right] if left.start + left.size > right.start));
        if overlap {
            survey.problem(WHAT, address, "its free blocks overlap".into());
        }
    }
    survey.found(WHAT, address, LocalHeap::open(file, address))
}
