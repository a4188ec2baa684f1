//! Elements that are defined, and those that are not to be any more.

use std::sync::{Mutex, PoisonError};

use hyperslab::DefinedChunks;
use hyperslab::dtype::Arena;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::DatasetHandle;
use crate::array::{bytes, of_numbers, zeros};
use crate::engine::engine;
use crate::numbers::tuple;
use crate::space::PySpace;

/// The selected elements that are defined.
pub(super) fn defined(handle: &DatasetHandle, py: Python<'_>, space: &PySpace) -> PyResult<PySpace> {
    let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
    Ok(PySpace::new(engine(py, || dataset.defined(&space))?))
}

/// The coordinates of the selected elements that are defined, a row for each, and their values.
pub(super) fn read_defined<'py>(
    handle: &DatasetHandle,
    py: Python<'py>,
    space: &PySpace,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
    let ((dtype, memory), mut arena) = (handle.memory(py, None)?, Arena::default());
    let datatype = &memory.datatype;
    let (elements, values) = engine(py, || dataset.read_defined_converted(&space, datatype, &mut arena))?;
    let count = values.len() / datatype.size().max(1);
    let mut array = zeros(&[count], &dtype)?;
    match memory.steps {
        Some(_) => memory.finish(py, &values, &arena, bytes(&mut array)?)?,
        None => bytes(&mut array)?.iter_mut().zip(&values).for_each(|(place, byte)| *place = *byte),
    }
    let coords = of_numbers(py, [count, space.rank()], |places| elements.fill_coords(places))?;
    Ok((coords.into_any(), array.into_any()))
}

/// How many elements are defined.
pub(super) fn defined_count(handle: &DatasetHandle, py: Python<'_>) -> PyResult<u64> {
    let dataset = handle.dataset()?;
    engine(py, || dataset.defined_count())
}

/// The selected elements that are defined, chunk by chunk: the place of each chunk in the grid, and its elements.
#[pyclass(name = "DefinedChunks", module = "hyperslab._hyperslab", frozen)]
pub(crate) struct PyDefinedChunks(Mutex<DefinedChunks>);

impl PyDefinedChunks {
    pub(super) fn of(handle: &DatasetHandle, py: Python<'_>, space: &PySpace) -> PyResult<PyDefinedChunks> {
        let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
        Ok(PyDefinedChunks(Mutex::new(engine(py, || dataset.defined_chunks(&space))?)))
    }
}

#[pymethods]
impl PyDefinedChunks {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, PySpace)>> {
        let next = engine(py, || {
            let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).next().transpose()?;
            next.map(|chunk| Ok((chunk.elements.to_space()?, chunk.place))).transpose()
        })?;
        next.map(|(space, place)| Ok((tuple(py, &place)?, PySpace::new(space)))).transpose()
    }
}

/// Lets the selected elements not be defined any more.
pub(super) fn erase(handle: &DatasetHandle, py: Python<'_>, space: &PySpace) -> PyResult<()> {
    let (dataset, space) = (handle.dataset()?, handle.selected(py, space)?);
    engine(py, || dataset.erase(&space))
}
