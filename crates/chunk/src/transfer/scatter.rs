//! Bytes to their places: from one selection of a buffer to another of the caller's.

use std::ops::Range;

use hyperslab_space::Space;

use crate::{Error, Result};

/// Copies the selected elements of `from` to the selected places of `to`; both hold equally many.
pub(crate) fn copy(from: &[u8], source: &Space, to: &mut [u8], target: &Space, element: u64) -> Result<()> {
    if hyperslab_space::copy(from, source, to, target, element)? { Ok(()) } else { Err(outside()) }
}

/// As [`copy`], to a part of the buffer that begins at `start` and holds all selected places.
pub(crate) fn copy_to_part(
    from: &[u8],
    source: &Space,
    part: &mut [u8],
    start: u64,
    target: &Space,
    element: u64,
) -> Result<()> {
    if hyperslab_space::copy_to_part(from, source, part, start, target, element)? { Ok(()) } else { Err(outside()) }
}

/// From the first to the last byte of a buffer that is selected.
pub(crate) fn touched(memory: &Space, element: u64) -> Range<usize> {
    let Some((low, high)) = memory.bounds() else { return 0..0 };
    let linear = |coords: &[u64]| {
        let along = |at: u64, (index, dim): (&u64, &u64)| at.saturating_mul(*dim).saturating_add(*index);
        coords.iter().zip(memory.dims()).fold(0, along)
    };
    let place = |number: u64| usize::try_from(number.saturating_mul(element)).unwrap_or(usize::MAX);
    place(linear(&low))..place(linear(&high).saturating_add(1))
}

pub(crate) fn outside() -> Error {
    Error::Layout("a selection reaches over its buffer".into())
}

/// Copies values that lie one after the other to the selected places of `to`.
pub fn scatter(from: &[u8], to: &mut [u8], mem_selection: &Space, element: u64) -> Result<()> {
    copy(from, &Space::simple(&[mem_selection.npoints()])?, to, mem_selection, element)
}

/// Copies the values at the selected places of `from` to `to`, where they lie one after the other.
pub fn gather(from: &[u8], mem_selection: &Space, to: &mut [u8], element: u64) -> Result<()> {
    copy(from, mem_selection, to, &Space::simple(&[mem_selection.npoints()])?, element)
}

/// Puts the fill value, one element long, in every selected place; zeros where there is none.
pub fn fill(value: Option<&[u8]>, to: &mut [u8], target: &Space, element: u64) -> Result<()> {
    for run in target.runs(element)? {
        let place = to.get_mut(range(run.offset, run.len)).ok_or_else(outside)?;
        match value {
            None => place.fill(0),
            Some(value) => place.chunks_exact_mut(value.len().max(1)).for_each(|place| place.copy_from_slice(value)),
        }
    }
    Ok(())
}

pub(crate) fn range(start: u64, len: u64) -> Range<usize> {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    place(start)..place(start.saturating_add(len))
}
