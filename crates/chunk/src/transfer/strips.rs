//! Conversion strip by strip, where values cannot be converted on the way between a chunk and the caller.
//!
//! A strip is a part of a request with a few MiB of stored values. Its values are read as they are stored, converted without any lock of a chunk, and so
//! on with the next: memory does not grow with the request. Used for values that the file has as they are in memory (contiguous, compact, external,
//! chunks without filters), of which one request reads many at once; and for values that name objects of a heap, because following them is I/O.

use hyperslab_base::memory;
use hyperslab_dtype::Plan;
use hyperslab_space::Space;

use super::{
    convert::convert,
    scatter::{self, outside, range},
    strip_cut::StripCut,
};
use crate::{Error, Result};

/// Stored values that are read strip by strip.
pub trait StripReader {
    /// What can go wrong.
    type Error: From<Error>;

    /// Reads a part as it is stored, one value after the other.
    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<(), Self::Error>;

    /// Converts stored values to places that lie one after the other.
    fn convert(&mut self, plan: &Plan, stored: &[u8], to: &mut [u8]) -> Result<(), Self::Error> {
        Ok(convert(plan, stored, to)?)
    }
}

/// Stored values that are written strip by strip.
pub trait StripWriter {
    /// What can go wrong.
    type Error: From<Error>;

    /// Reads a part as it is stored, one value after the other: members of compounds that the caller does not have stay as they are.
    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<(), Self::Error>;

    /// Converts values to what will be stored, one after the other.
    fn convert(&mut self, plan: &Plan, from: &[u8], stored: &mut [u8]) -> Result<(), Self::Error> {
        Ok(convert(plan, from, stored)?)
    }

    /// Writes a part, whose values lie one after the other.
    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<(), Self::Error>;
}

/// Reads the selected values to the selected places of `buf`, in strips if they are cut.
pub fn read_strips<S: StripReader>(
    values: &mut S,
    plan: &Plan,
    (selection, mem_selection): (&Space, &Space),
    cut: Option<&StripCut>,
    buf: &mut [u8],
) -> Result<(), S::Error> {
    let mut strip = Vec::new();
    for_each_strip(selection, mem_selection, cut, &mut |part, mem_selection| {
        let stored = room(&mut strip, part, plan.source_size())?;
        values.read(part, stored)?;
        to_memory(buf, mem_selection, plan, &mut |to| values.convert(plan, stored, to))
    })
}

/// Writes the values at the selected places of `buf` to the selected elements, in strips if they are cut.
pub fn write_strips<S: StripWriter>(
    values: &mut S,
    plan: &Plan,
    (selection, mem_selection): (&Space, &Space),
    cut: Option<&StripCut>,
    buf: &[u8],
) -> Result<(), S::Error> {
    let (mut strip, mut packed) = (Vec::new(), Vec::new());
    for_each_strip(selection, mem_selection, cut, &mut |part, mem_selection| {
        let stored = room(&mut strip, part, plan.target_size())?;
        if plan.keeps_background() {
            values.read(part, stored)?;
        }
        values.convert(plan, gathered(buf, mem_selection, plan.source_size(), &mut packed)?, stored)?;
        values.write(part, stored)
    })
}

/// Hands out a selection in strips, with the places that belong to each; in one piece, if it is not cut.
pub fn for_each_strip<E: From<Error>>(
    selection: &Space,
    mem_selection: &Space,
    cut: Option<&StripCut>,
    each: &mut dyn FnMut(&Space, &Space) -> Result<(), E>,
) -> Result<(), E> {
    match cut {
        Some(cut) => cut.for_each(selection, mem_selection, each),
        None => each(selection, mem_selection),
    }
}

/// Room for the values of a part.
fn room<'a>(strip: &'a mut Vec<u8>, part: &Space, size: usize) -> Result<&'a mut [u8]> {
    let bytes = part.npoints().saturating_mul(size as u64);
    if bytes > strip.len() as u64 {
        *strip = memory::zeroed(bytes)?;
    }
    strip.get_mut(range(0, bytes)).ok_or_else(outside)
}

/// Lets `make` write values by a plan: in place if the places are side by side, else by the side and then scattered. What the plan does not write,
/// such as members of a compound that the file lacks, stays as it is in `buf`.
pub fn to_memory<E: From<Error>>(
    buf: &mut [u8],
    mem_selection: &Space,
    plan: &Plan,
    make: &mut dyn FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let size = plan.target_size() as u64;
    let mut runs = mem_selection.runs(size).map_err(Error::from)?;
    if let (Some(run), None) = (runs.next(), runs.next()) {
        return make(buf.get_mut(range(run.offset, run.len)).ok_or_else(outside)?);
    }
    let mut converted = memory::zeroed(mem_selection.npoints().saturating_mul(size)).map_err(Error::from)?;
    if plan.keeps_background() {
        scatter::gather(buf, mem_selection, &mut converted, size)?;
    }
    make(&mut converted)?;
    Ok(scatter::scatter(&converted, buf, mem_selection, size)?)
}

/// The values of some places one after the other: where they are, if they lie so.
fn gathered<'a>(buf: &'a [u8], mem_selection: &Space, size: usize, packed: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    let mut runs = mem_selection.runs(size as u64)?;
    if let (Some(run), None) = (runs.next(), runs.next()) {
        return buf.get(range(run.offset, run.len)).ok_or_else(outside);
    }
    packed.clear();
    for run in mem_selection.runs(size as u64)? {
        memory::append(packed, buf.get(range(run.offset, run.len)).ok_or_else(outside)?)?;
    }
    Ok(packed)
}
