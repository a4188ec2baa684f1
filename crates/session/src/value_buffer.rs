//! Buffers of values: room for them, and values of a buffer that lie apart.

use hyperslab_dtype::Plan;
use hyperslab_space::Space;

use crate::{Error, Result};

/// Lets `make` write values of `size` bytes by a plan: in place if the places are side by side, else by the side and then scattered. What the
/// plan does not write, such as members of a compound that the file lacks, stays as it is in `buf`.
pub(crate) fn to_places(
    buf: &mut [u8],
    places: &Space,
    size: usize,
    plan: &Plan,
    make: &mut dyn FnMut(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut runs = places.runs(size as u64)?;
    let first = runs.next();
    if let (Some(run), None) = (first, runs.next()) {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let range = place(run.offset)..place(run.offset.saturating_add(run.len));
        let room = buf.len() as u64 / size.max(1) as u64;
        return make(buf.get_mut(range).ok_or(Error::Length { values: places.npoints(), room })?);
    }
    let mut converted = room(places.npoints(), size)?;
    if plan.keeps_background() {
        hyperslab_chunk::gather(buf, places, &mut converted, size as u64)?;
    }
    make(&mut converted)?;
    Ok(hyperslab_chunk::scatter(&converted, buf, places, size as u64)?)
}

/// Room for `count` values of `size` bytes; an error if there is not that much memory.
pub fn room(count: u64, size: usize) -> Result<Vec<u8>> {
    let bytes = count.checked_mul(size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    let zeroed = bytes.and_then(|bytes| bytemuck::allocation::try_zeroed_vec(bytes).ok());
    zeroed.ok_or(Error::Memory { values: count, size: size as u64 })
}
