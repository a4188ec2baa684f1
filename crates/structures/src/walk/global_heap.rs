//! Collections of the global heap.

use hyperslab_file::{Error, OpenFile, Survey};
use hyperslab_format::heap::global;

use crate::Collection;

const WHAT: &str = "global heap collection";

/// Shows the collection at `address`, which many may name; says how many bytes it has.
pub fn collection(file: &OpenFile, address: u64, survey: &mut dyn Survey) -> Option<u64> {
    let head = file.metadata_up_to(WHAT, address, global::head_size(file.widths()) as u64);
    let size = head.and_then(|head| global::decode_size(&head, file.widths()).map_err(Error::at(address)));
    let size = survey.found(WHAT, address, size)?;
    if survey.shared(WHAT, address, size) {
        survey.found(WHAT, address, Collection::read(file, address));
    }
    Some(size)
}
