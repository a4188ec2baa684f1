//! A vector as single ranges.
//!
//! Lives here: the defaults of `read_vector` and `write_vector`. Does not live here: merging. Two parts are two slices, and safe
//! Rust cannot join two slices; parts that could be one are merged where they are made, in `segment`.

use crate::{Driver, ReadPart, Result, Transfer, WritePart};

/// Reads part after part with [`Driver::read_at`].
pub fn read_vector<D: Driver + ?Sized>(driver: &D, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
    parts.iter_mut().try_for_each(|part| driver.read_at(part.addr, part.buf, &transfer.clone().with_kind(part.kind)))
}

/// Writes part after part with [`Driver::write_at`], in list order.
pub fn write_vector<D: Driver + ?Sized>(driver: &D, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
    parts.iter().try_for_each(|part| driver.write_at(part.addr, part.buf, &transfer.clone().with_kind(part.kind)))
}
