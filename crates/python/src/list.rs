//! Lists that may be too large for the memory.

use pyo3::prelude::*;

use crate::error::too_large;

/// A list with room for so many items.
pub(crate) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| too_large(count.saturating_mul(size_of::<T>()) as u64))?;
    Ok(list)
}
