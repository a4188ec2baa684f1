//! Stored chunks of a dataset.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::DatasetHandle;
use crate::engine::engine;

/// The stored bytes of a chunk, and the filters that were left out; nothing if it was never written.
pub(super) fn read<'py>(
    handle: &DatasetHandle,
    py: Python<'py>,
    place: Vec<u64>,
) -> PyResult<Option<(u32, Bound<'py, PyBytes>)>> {
    let dataset = handle.dataset()?;
    let found = engine(py, || dataset.read_chunk(place))?;
    found.map(|(mask, bytes)| Ok((mask, stored(py, &bytes)?))).transpose()
}

/// Stored bytes; an error if there is no memory for them.
pub(super) fn stored<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |to| {
        to.copy_from_slice(bytes);
        Ok(())
    })
}
