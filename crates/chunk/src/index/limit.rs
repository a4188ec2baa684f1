//! How many chunks an index can hold. What it cannot hold is refused when a dataset is created or resized, before anything changes.

use hyperslab_format::{message::ChunkIndex, version};
use hyperslab_space::{Extent, Space, UNLIMITED};

use crate::{Chunked, Error, Result, index::numbering::Numbering};

/// libhdf5 refuses to write a chunk of an array with a number that does not fit 32 bits, so no array is given one here.
const MOST: u64 = 1 << 32;

/// The index of a new dataset that would have `usual`: a tree where that is an array without room for all chunks. libhdf5 takes the array
/// nevertheless, but then cannot write such chunks; it reads and writes the tree.
pub fn index_that_holds(usual: ChunkIndex, extent: &Extent, chunk: &[u64]) -> ChunkIndex {
    let holds = match &usual {
        // It has a slot for every chunk of the largest extent.
        ChunkIndex::FixedArray { .. } => Numbering::new(extent, chunk, false).count() <= MOST,
        // Also if there are none yet: it must have room for those of one row.
        ChunkIndex::ExtensibleArray(_) if Numbering::new(extent, chunk, true).row() > MOST => false,
        _ => check_extent(&usual, extent, chunk).is_ok(),
    };
    if holds { usual } else { version::CHUNK_TREE }
}

/// Refuses a new dataset that would have more chunks than its index can hold, or take more bytes than a file can have.
pub fn check_new(kind: &ChunkIndex, extent: &Extent, chunk: &[u64], element: u64) -> Result<()> {
    if *kind == ChunkIndex::Implicit {
        // It has a slot for every chunk of the largest extent.
        let bytes = chunk.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
        check_space(Numbering::new(extent, chunk, false).count(), bytes)?;
    }
    check_resize(kind, extent, chunk)
}

/// Refuses an extent that the chunks of a dataset cannot have.
pub(crate) fn check_resize(kind: &ChunkIndex, extent: &Extent, chunk: &[u64]) -> Result<()> {
    // libhdf5 cannot open chunked datasets that are longer.
    if let Some(dim) = extent.dims().iter().position(|&size| size > i64::MAX as u64) {
        return Err(Error::Layout(format!("dimension {dim} of {:?} is longer than 2^63 - 1", extent.dims())));
    }
    check_extent(kind, extent, chunk)
}

/// Refuses to take space for more chunks, of so many bytes each, than any file has room for.
pub(crate) fn check_space(count: u64, bytes: u64) -> Result<()> {
    match count.checked_mul(bytes) {
        Some(all) if all <= i64::MAX as u64 => Ok(()),
        _ => Err(Error::Layout(format!("{count} chunks of {bytes} bytes each are more than a file can hold"))),
    }
}

/// Refuses an extent with more chunks than an index can hold.
pub(crate) fn check_extent(kind: &ChunkIndex, extent: &Extent, chunk: &[u64]) -> Result<()> {
    // Most datasets have far fewer chunks, and this is asked before every write.
    let side = |(dim, max): (&u64, &u64)| if *max == UNLIMITED { *dim } else { *max };
    let sides = extent.dims().iter().zip(extent.max()).map(side).zip(chunk);
    if sides.fold(1, |count: u64, (side, size)| count.saturating_mul(side.div_ceil(*size))) <= MOST {
        return Ok(());
    }
    let last: Option<Vec<u64>> =
        extent.dims().iter().zip(chunk).map(|(dim, size)| dim.div_ceil(*size).checked_sub(1)).collect();
    match last {
        Some(last) => check_coord(kind, extent, chunk, &last),
        None => Ok(()),
    }
}

fn check_coord(kind: &ChunkIndex, extent: &Extent, chunk: &[u64], coord: &[u64]) -> Result<()> {
    let (name, unlimited_first) = match kind {
        ChunkIndex::FixedArray { .. } => ("fixed", false),
        ChunkIndex::ExtensibleArray(_) => ("extensible", true),
        _ => return Ok(()),
    };
    let number = Numbering::new(extent, chunk, unlimited_first).number(coord);
    if number.is_some_and(|number| number < MOST) {
        return Ok(());
    }
    Err(refusal(name, extent.dims(), number.unwrap_or(u64::MAX)))
}

fn refusal(name: &str, dims: &[u64], number: u64) -> Error {
    let why = format!("an extent of {dims:?} reaches chunk {number}, but its {name} array holds 2^32");
    Error::Layout(format!("{why}: larger chunks are fewer"))
}

impl Chunked {
    /// Whether the dataset has more chunks than its index can hold.
    pub(crate) fn exceeds_index(&self) -> bool {
        check_extent(&self.kind, &self.extent, self.chunk()).is_err()
    }

    /// Refuses to write to chunks that the index cannot hold. Other programs may have made the dataset so large; to be asked before anything
    /// changes.
    pub(crate) fn check_reach(&self, selection: &Space) -> Result<()> {
        let Some((_, high)) = selection.bounds() else { return Ok(()) };
        let last: Vec<u64> = high.iter().zip(self.chunk()).map(|(index, size)| index / size).collect();
        self.check_coord(&last)
    }

    /// Refuses a chunk that the index cannot hold.
    pub(crate) fn check_coord(&self, coord: &[u64]) -> Result<()> {
        check_coord(&self.kind, &self.extent, self.chunk(), coord)
    }
}
