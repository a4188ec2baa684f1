//! Values of NumPy arrays to a dataset.

use hyperslab::Error;
use hyperslab::dtype::{Class, Vlen};
use hyperslab::space::Error::OutOfExtent;
use numpy::PyArrayDescrMethods;
use pyo3::prelude::*;

use super::DatasetHandle;
use crate::array::Array;
use crate::engine::detached;
use crate::error::{ExtentError, exception, of_space};
use crate::given::Given;
use crate::memory::Memory;
use crate::numpy_type::Dtype;
use crate::points::points;
use crate::space::PySpace;
use crate::texts;

/// Writes the elements of an array, each of `dtype`, to the selected ones, in the order of the selection.
pub(super) fn write(
    handle: &DatasetHandle,
    py: Python<'_>,
    space: &PySpace,
    array: &Array<'_>,
    dtype: &Dtype<'_>,
) -> PyResult<()> {
    let (file, dataset, selection) = (handle.shared.file()?, &handle.dataset, space.now(py));
    let stored = dataset.stored_datatype();
    if let (b'T', Class::Vlen(Vlen { text: Some((_, charset)), .. })) = (dtype.kind(), stored.class()) {
        return texts::write_own(dataset, &selection, array, *charset);
    }
    let memory = Memory::to_write(dtype, stored)?;
    if let Some(charset) = memory.text() {
        return texts::write(dataset, &selection, array, charset);
    }
    Given::of(file, array, memory, stored)?.write(py, dataset, &selection)
}

/// Writes the elements of an array, each of `dtype`, to those with these coordinates. The dataset had them all when its shape was asked last.
pub(super) fn write_coords(
    handle: &DatasetHandle,
    py: Python<'_>,
    coords: &Bound<'_, PyAny>,
    array: &Array<'_>,
    dtype: &Dtype<'_>,
) -> PyResult<()> {
    let (file, dataset) = (handle.shared.file()?, &handle.dataset);
    let (stored, coords) = (dataset.stored_datatype(), points(coords, dataset.rank())?);
    let memory = if dtype.kind() == b'T' { None } else { Some(Memory::to_write(dtype, stored)?) };
    let Some(memory) = memory.filter(|memory| memory.text().is_none()) else {
        let mut selection = handle.space(py)?;
        selection.select_points(&coords).map_err(of_space)?;
        selection.check_inside().map_err(|why| ExtentError::new_err(why.to_string()))?;
        return write(handle, py, &PySpace::new(selection), array, dtype);
    };
    let given = Given::of(file, array, memory, stored)?;
    let (datatype, values, arena) = (&given.datatype, given.bytes()?, &given.arena);
    done(detached(py, || dataset.write_coords_converted(&coords, datatype, values, arena))?)
}

/// Writes the elements of an array, each of `dtype`, to blocks, each said by its first element and its size. Texts of variable length are not for this call.
pub(super) fn write_blocks(
    handle: &DatasetHandle,
    py: Python<'_>,
    blocks: &[(Vec<u64>, Vec<u64>)],
    array: &Array<'_>,
    dtype: &Dtype<'_>,
) -> PyResult<()> {
    let (file, dataset) = (handle.shared.file()?, &handle.dataset);
    let given = Given::of(file, array, Memory::to_write(dtype, dataset.stored_datatype())?, dataset.stored_datatype())?;
    let (datatype, values, arena) = (&given.datatype, given.bytes()?, &given.arena);
    done(detached(py, || dataset.write_blocks_converted(blocks, datatype, values, arena))?)
}

/// What Python gets of a write. A place outside of the dataset may be inside when the shape is asked again.
fn done(written: hyperslab::Result<()>) -> PyResult<()> {
    match written {
        Err(Error::Space(why @ OutOfExtent { .. })) => Err(ExtentError::new_err(why.to_string())),
        written => written.map_err(exception),
    }
}
