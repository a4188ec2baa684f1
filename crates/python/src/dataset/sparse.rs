//! Elements that are defined, and those that are not to be any more.

use hyperslab::{Dataset, FilterStep};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};

use super::DatasetHandle;
use super::facts::described;
use crate::engine::engine;
use crate::numbers::tuple;
use crate::space::PySpace;

/// The names of the sections of chunks, by their numbers; none if chunks have no sections.
fn sections(dataset: &Dataset) -> &'static [&'static str] {
    match (dataset.is_sparse(), dataset.has_vlen_chunks()) {
        (true, true) => &["selection", "data", "vlen"],
        (true, false) => &["selection", "data"],
        (false, true) => &["data", "vlen"],
        (false, false) => &[],
    }
}

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
    let filters = sections(dataset).iter().map(|name| Ok((*name, described(py, section(dataset, name))?)));
    let filters = filters.collect::<PyResult<Vec<_>>>()?;
    if filters.is_empty() { Ok(None) } else { filters.into_py_dict(py).map(Some) }
}

/// The filters of the values, if chunks have sections.
pub(super) fn of_values(dataset: &Dataset) -> Option<&[FilterStep]> {
    (!sections(dataset).is_empty()).then(|| section(dataset, "data"))
}

/// The filters of one section.
fn section<'a>(dataset: &'a Dataset, name: &str) -> &'a [FilterStep] {
    let number = (0..).zip(sections(dataset)).find(|(_, section)| **section == name);
    let filters = dataset.section_filters().zip(number);
    filters.map_or(&[], |(filters, (number, _))| filters.of(number))
}
