//! Elements that are defined, and those that are not to be any more.

use hyperslab::FilterStep;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::DatasetHandle;
use crate::engine::engine;
use crate::names::name;
use crate::numbers::tuple;
use crate::space::PySpace;

/// The sections of sparse chunks, by number.
const SECTIONS: [&str; 2] = ["selection", "data"];

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
    for (number, section) in SECTIONS.into_iter().enumerate() {
        let steps: &[FilterStep] = dataset.section_filters().map_or(&[], |filters| filters.of(number as u8));
        let filters = PyList::empty(py);
        for step in steps {
            filters.append((step.id, PyTuple::new(py, &step.params)?, name(py, &step.name)?))?;
        }
        sections.set_item(section, filters)?;
    }
    Ok(Some(sections))
}
