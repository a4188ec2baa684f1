//! Elements that are defined, and those that are not to be any more.

use hyperslab::{Dataset, FilterStep};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::DatasetHandle;
use super::facts::described;
use crate::engine::engine;
use crate::numbers::tuple;
use crate::space::PySpace;

/// The numbers of the sections of a sparse chunk.
const SELECTION: u8 = 0;
pub(super) const VALUES: u8 = 1;

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

/// Number, parameters and name of the filters of each section, in the order of writing; nothing if chunks have no sections.
pub(super) fn section_filters<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let dataset = handle.dataset()?;
    if !dataset.is_sparse() {
        return Ok(None);
    }
    let sections = PyDict::new(py);
    for (name, number) in [("selection", SELECTION), ("data", VALUES)] {
        sections.set_item(name, described(py, section(dataset, number))?)?;
    }
    Ok(Some(sections))
}

/// The filters of one section.
pub(super) fn section(dataset: &Dataset, number: u8) -> &[FilterStep] {
    dataset.section_filters().map_or(&[], |filters| filters.of(number))
}
