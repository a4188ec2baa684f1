//! Room for values.

use crate::{Error, Result};

/// Room for `count` values of `size` bytes; an error if there is not that much memory.
pub fn room(count: u64, size: usize) -> Result<Vec<u8>> {
    let bytes = count.checked_mul(size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    let zeroed = bytes.and_then(|bytes| bytemuck::allocation::try_zeroed_vec(bytes).ok());
    zeroed.ok_or(Error::Memory { values: count, size: size as u64 })
}
