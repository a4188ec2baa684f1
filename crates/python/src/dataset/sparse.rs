//! Elements that are defined, and those that are not to be any more.

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::DatasetHandle;
use crate::engine::engine;
use crate::numbers::tuple;
use crate::space::PySpace;

/// The selected elements that are defined.
pub(super) fn defined(handle: &DatasetHandle, py: Python<'_>, space: &PySpace) -> PyResult<PySpace> {
    let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
    Ok(PySpace::new(engine(py, || dataset.defined(&space))?))
}

/// Lets the selected elements not be defined any more.
pub(super) fn erase(handle: &DatasetHandle, py: Python<'_>, space: &PySpace) -> PyResult<()> {
    let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
    engine(py, || dataset.erase(&space))
}

/// The places of stored chunks in the grid of chunks.
pub(super) fn chunk_places<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let dataset = handle.dataset()?;
    let places = PyList::empty(py);
    for place in engine(py, || dataset.chunk_places())? {
        places.append(tuple(py, &place)?)?;
    }
    Ok(places)
}
