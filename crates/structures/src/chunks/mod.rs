//! Chunk indexes: where the chunks of a dataset are.

pub mod btree_v1;
pub mod btree_v2;
pub mod extensible_array;
pub mod fixed_array;

use hyperslab_file::{Error, Result};
use hyperslab_format::{
    ChunkEntry, Widths,
    index::{ChunkElement, Client},
};

/// Why an array with such elements is not that of a dataset whose index keeps `element` of each chunk.
pub(crate) fn mismatch((client, size): (Client, u8), element: ChunkElement, widths: Widths) -> Option<String> {
    if client != element.client() {
        return Some(format!("an index of {client:?} chunks where {:?} ones belong", element.client()));
    }
    let wanted = element.size(widths);
    (usize::from(size) != wanted).then(|| format!("elements of {size} bytes where {wanted} belong"))
}

/// Changes of an array by rising number; of several for one number, the last.
fn numbered(chunks: &[(u64, ChunkEntry)]) -> Vec<&(u64, ChunkEntry)> {
    let mut sorted: Vec<_> = chunks.iter().rev().collect();
    sorted.sort_by_key(|(number, _)| *number);
    sorted.dedup_by_key(|(number, _)| *number);
    sorted
}

/// Puts chunks in their places among entries of which the first has the number `first`.
fn apply<'a>(
    entries: &mut [ChunkEntry],
    changes: impl Iterator<Item = &'a (u64, ChunkEntry)>,
    first: u64,
    element: ChunkElement,
) {
    for (number, chunk) in changes {
        let place = number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        if let Some(entry) = place.and_then(|place| entries.get_mut(place)) {
            *entry = if chunk.address.is_some() { chunk.clone() } else { element.nothing() };
        }
    }
}

/// So many entries of chunks that are nowhere, for the array at `address`.
fn nothings(what: &'static str, address: u64, count: u64, element: ChunkElement) -> Result<Vec<ChunkEntry>> {
    let memory = || Error::Memory { what, address, length: count };
    let (mut entries, room) = (Vec::new(), usize::try_from(count).map_err(|_| memory())?);
    entries.try_reserve_exact(room).map_err(|_| memory())?;
    entries.resize(room, element.nothing());
    Ok(entries)
}
