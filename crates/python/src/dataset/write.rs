//! Values of NumPy arrays to a dataset.

use hyperslab::dtype::{Class, Vlen};
use numpy::PyArrayDescrMethods;
use pyo3::prelude::*;

use super::DatasetHandle;
use crate::array::Array;
use crate::given::Given;
use crate::memory::Memory;
use crate::numpy_type::Dtype;
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
    let stored = dataset.datatype();
    if let (b'T', Class::Vlen(Vlen { text: Some((_, charset)), .. })) = (dtype.kind(), stored.class()) {
        return texts::write_own(dataset, &selection, array, *charset);
    }
    let memory = Memory::to_write(dtype, stored)?;
    if let Some(charset) = memory.text() {
        return texts::write(dataset, &selection, array, charset);
    }
    Given::of(file, array, memory, stored)?.write(py, dataset, &selection)
}
