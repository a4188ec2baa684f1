//! Making room for output, never over its limit. Every decoder calls this before it believes a length from the file.

use hyperslab_base::memory;

use crate::Fault;

/// `out`, exactly `len` bytes long. The bytes are stale; the caller overwrites each of them.
pub(crate) fn stale(out: &mut Vec<u8>, len: usize, limit: usize) -> Result<&mut [u8], Fault> {
    if len > limit {
        return Err(Fault::TooLong(limit));
    }
    memory::resize(out, len, 0)?;
    Ok(out)
}

/// Appends `more` stale bytes, which the caller overwrites, and gives them.
pub(crate) fn extend_stale(out: &mut Vec<u8>, more: usize) -> Result<&mut [u8], Fault> {
    let start = out.len();
    memory::resize(out, start.saturating_add(more), 0)?;
    Ok(out.get_mut(start..).unwrap_or_default())
}

/// `out`, exactly `len` bytes long and all of them zero.
pub(crate) fn zeroed(out: &mut Vec<u8>, len: usize, limit: usize) -> Result<&mut [u8], Fault> {
    out.clear();
    stale(out, len, limit)
}

/// An error where there is no memory for the state of a codec, whose library panics then.
pub(crate) fn check_memory(state: usize) -> Result<(), Fault> {
    // The optimizer would leave out memory that nothing uses.
    drop(std::hint::black_box(memory::with_room::<u8>(state)?));
    Ok(())
}

/// Overwrites four bytes, where room was left for a length that was not yet known.
pub(crate) fn put_at(out: &mut [u8], at: usize, length: [u8; 4]) {
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&length);
    }
}

/// A length from a file as one of memory.
pub(crate) fn to_len(stored: impl TryInto<usize>) -> Result<usize, Fault> {
    stored.try_into().map_err(|_| Fault::Corrupt("a length does not fit the address space"))
}
