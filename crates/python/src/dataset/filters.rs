//! The filters of chunks, and of their sections.

use hyperslab::{Dataset, FilterStep};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};

use super::DatasetHandle;
use crate::names::name;

/// The names of the sections of chunks, by their numbers; none if chunks have no sections.
fn sections(dataset: &Dataset) -> &'static [&'static str] {
    match (dataset.is_sparse(), dataset.has_vlen_chunks()) {
        (true, true) => &["selection", "data", "vlen"],
        (true, false) => &["selection", "data"],
        (false, true) => &["data", "vlen"],
        (false, false) => &[],
    }
}

/// Number, parameters and name of each filter, in the order of writing: of chunks, or of the values in chunks that have sections.
pub(super) fn of_chunks<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let dataset = handle.dataset()?;
    described(py, of_values(dataset).unwrap_or(dataset.filters()))
}

/// Number, parameters and name of each step.
fn described<'py>(py: Python<'py>, steps: &[FilterStep]) -> PyResult<Bound<'py, PyList>> {
    let filters = PyList::empty(py);
    for step in steps {
        filters.append((step.id, PyTuple::new(py, &step.params)?, name(py, &step.name)?))?;
    }
    Ok(filters)
}

/// Number, parameters and name of the filters of each section, in the order of writing; nothing if chunks have no sections.
pub(super) fn of_sections<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let dataset = handle.dataset()?;
    let filters = sections(dataset).iter().map(|name| Ok((*name, described(py, section(dataset, name))?)));
    let filters = filters.collect::<PyResult<Vec<_>>>()?;
    if filters.is_empty() { Ok(None) } else { filters.into_py_dict(py).map(Some) }
}

/// The filters of the values, if chunks have sections.
fn of_values(dataset: &Dataset) -> Option<&[FilterStep]> {
    (!sections(dataset).is_empty()).then(|| section(dataset, "data"))
}

/// The filters of one section.
fn section<'a>(dataset: &'a Dataset, name: &str) -> &'a [FilterStep] {
    let number = (0..).zip(sections(dataset)).find(|(_, section)| **section == name);
    let filters = dataset.section_filters().zip(number);
    filters.map_or(&[], |(filters, (number, _))| filters.of(number))
}
