//! Making room for output, never over its limit. Every decoder calls this before it believes a length from the file.

use crate::Fault;

/// `out`, exactly `len` bytes long. The bytes are stale; the caller overwrites each of them.
pub(crate) fn stale(out: &mut Vec<u8>, len: usize, limit: usize) -> Result<&mut [u8], Fault> {
    if len > limit {
        return Err(Fault::TooLong(limit));
    }
    let more = len.saturating_sub(out.len());
    out.try_reserve(more).map_err(|_| Fault::Memory(len))?;
    out.resize(len, 0);
    Ok(out)
}

/// `out`, exactly `len` bytes long and all of them zero.
pub(crate) fn zeroed(out: &mut Vec<u8>, len: usize, limit: usize) -> Result<&mut [u8], Fault> {
    out.clear();
    stale(out, len, limit)
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
