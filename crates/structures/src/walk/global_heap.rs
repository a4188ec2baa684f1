//! Collections of the global heap.

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal, Survey};
use hyperslab_format::heap::global;

use crate::{Collection, global_heap::CollectionBlock};

const WHAT: &str = CollectionBlock::WHAT;

/// How many bytes a collection says that it has.
struct Size;

impl Block for Size {
    type Value = u64;
    const WHAT: &'static str = WHAT;

    fn seal(&self, first: &[u8]) -> Seal {
        CollectionBlock.seal(first)
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::UpTo(global::head_size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<u64> {
        global::decode_size(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// Shows the collection at `address`, which many may name; says how many bytes it has.
pub fn collection(file: &OpenFile, address: u64, survey: &mut dyn Survey) -> Option<u64> {
    let size = survey.found(WHAT, address, file.load_once(&Size, address))?;
    if survey.shared(WHAT, address, size) {
        survey.found(WHAT, address, Collection::read(file, address));
    }
    Some(size)
}
