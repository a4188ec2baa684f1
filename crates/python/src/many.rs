//! Several datasets in one call, to and from NumPy arrays.

use hyperslab::dtype::Arena;
use hyperslab::space::Space;
use hyperslab::{PartToRead, PartToWrite};
use pyo3::prelude::*;

use crate::array::{Array, bytes, room, unwrapped, zeros};
use crate::dataset::DatasetHandle;
use crate::engine::engine;
use crate::error::of_space;
use crate::given::Given;
use crate::numpy_type::Dtype;
use crate::space::PySpace;

/// The selected elements of several datasets, each as an array of the given shape; one element by itself.
#[pyfunction]
pub(crate) fn read_many<'py>(
    py: Python<'py>,
    parts: Vec<(PyRef<'py, DatasetHandle>, Py<PySpace>, Vec<usize>)>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (mut selections, mut memories, mut arrays, mut stages) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (handle, space, shape) in &parts {
        let selection = handle.selected(py, space.get())?;
        let (dtype, memory) = handle.memory(py, None)?;
        arrays.push(zeros(shape, &dtype)?);
        // Python objects are made afterwards.
        let staged = memory.steps.is_some().then(|| room(selection.npoints(), memory.datatype.size()));
        stages.push(staged.transpose()?);
        let mem_selection = Space::simple(&[selection.npoints()]).map_err(of_space)?;
        selections.push((handle.dataset()?, selection, mem_selection));
        memories.push(memory);
    }
    let mut arenas: Vec<Arena> = parts.iter().map(|_| Arena::default()).collect();
    let mut wanted = Vec::new();
    let rooms = arrays.iter_mut().zip(&mut stages).zip(&mut arenas);
    for (((dataset, selection, mem_selection), memory), ((array, stage), arena)) in
        selections.iter().zip(&memories).zip(rooms)
    {
        let buf = match stage {
            Some(stage) => stage.as_mut_slice(),
            None => bytes(array)?,
        };
        wanted.push(PartToRead { dataset, selection, datatype: &memory.datatype, mem_selection, buf, arena });
    }
    engine(py, || hyperslab::read_many_converted(&mut wanted))?;
    drop(wanted);
    for (((array, stage), arena), memory) in arrays.iter_mut().zip(&stages).zip(&arenas).zip(&memories) {
        if let Some(stage) = stage {
            memory.finish(py, stage, arena, bytes(array)?)?;
        }
    }
    arrays.into_iter().map(unwrapped).collect()
}

/// Writes the elements of arrays, each of its dtype, to the selected ones of several datasets.
#[pyfunction]
pub(crate) fn write_many(
    py: Python<'_>,
    parts: Vec<(PyRef<'_, DatasetHandle>, Py<PySpace>, Array<'_>, Dtype<'_>)>,
) -> PyResult<()> {
    let mut given = Vec::new();
    for (handle, space, array, dtype) in &parts {
        let dataset = handle.dataset()?;
        let values = Given::new(&dataset.file(), array, dtype, dataset.stored_datatype())?;
        given.push((dataset, space.get().now(py), values.mem_selection()?, values));
    }
    let parts = given.iter().map(|(dataset, selection, mem_selection, values)| {
        let (datatype, buf, arena) = (&values.datatype, values.bytes()?, &values.arena);
        Ok(PartToWrite { dataset, selection, datatype, mem_selection, buf, arena })
    });
    let parts = parts.collect::<PyResult<Vec<_>>>()?;
    engine(py, || hyperslab::write_many_converted(&parts))
}
