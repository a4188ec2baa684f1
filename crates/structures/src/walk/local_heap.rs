//! Local heaps.

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal, Survey};
use hyperslab_format::heap;

use crate::{LocalHeap, local_heap::HeapBlock};

const WHAT: &str = HeapBlock::WHAT;

/// The header without the data, which may be damaged by themselves.
struct Head;

impl Block for Head {
    type Value = heap::LocalHeap;
    const WHAT: &'static str = WHAT;

    fn seal(&self, first: &[u8]) -> Seal {
        HeapBlock.seal(first)
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(heap::LocalHeap::size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<heap::LocalHeap> {
        heap::LocalHeap::decode(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// Shows the heap at `address` and its data; gives it if it can be read.
pub fn local_heap(file: &OpenFile, address: u64, survey: &mut dyn Survey) -> Option<LocalHeap> {
    let widths = file.widths();
    let size = heap::LocalHeap::size(widths) as u64;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let head = survey.found(WHAT, address, file.load_once(&Head, address))?;
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
