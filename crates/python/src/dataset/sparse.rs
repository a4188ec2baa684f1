//! Elements that are defined, and those that are not to be any more.

use hyperslab::dtype::Arena;
use pyo3::prelude::*;
use pyo3::types::PyList;

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
