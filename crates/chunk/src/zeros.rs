//! Memory that is all zeros.

use crate::{Error, Result};

/// So many zeros; an error if there is not that much memory. Pages that the system gives are zeros already, and are not touched here.
pub(crate) fn zeros(bytes: u64) -> Result<Vec<u8>> {
    let zeroed = usize::try_from(bytes).ok().and_then(|len| bytemuck::allocation::try_zeroed_vec(len).ok());
    zeroed.ok_or(Error::Memory(bytes))
}
