//! Attributes: small arrays that are read whole.

use std::sync::Arc;

use hyperslab::Attribute;
use hyperslab::dtype::{Arena, Plan};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::{bytes, room, zeros};
use crate::engine::detached;
use crate::error::too_large;
use crate::memory::Memory;
use crate::numbers::tuple;
use crate::numpy_type::{Dtype, dtype_of};
use crate::shared::Shared;

/// An attribute, with its values as they are stored.
#[pyclass(name = "AttributeHandle", module = "hyperslab._hyperslab", frozen)]
pub(crate) struct AttributeHandle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) attribute: Attribute,
}

#[pymethods]
impl AttributeHandle {
    /// Its shape; nothing if it has no elements at all.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let extent = &self.attribute.extent;
        (!extent.is_null()).then(|| tuple(py, extent.dims())).transpose()
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Dtype<'py>> {
        dtype_of(py, &self.attribute.datatype)
    }

    /// Its values, as an array.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (attribute, file) = (&self.attribute, self.shared.file()?);
        let dtype = dtype_of(py, &attribute.datatype)?;
        let memory = Memory::new(&dtype, &attribute.datatype)?;
        let shape = attribute.extent.dims().iter().map(|&size| usize::try_from(size).map_err(|_| too_large(size)));
        let mut made = zeros(&shape.collect::<PyResult<Vec<_>>>()?, &dtype)?;
        let (target, heap, mut arena) = (bytes(&mut made)?, file.heap(), Arena::default());
        let mut convert = |to: &mut [u8]| {
            let count = to.len() / memory.datatype.size();
            let plan = Plan::new(&attribute.datatype, &memory.datatype)?;
            plan.convert(count, &attribute.data, to, &heap, &mut arena)
        };
        let failed = |why: hyperslab::dtype::Error| PyOSError::new_err(format!("Can't read attribute: {why}"));
        if memory.steps.is_none() {
            detached(py, || convert(target))?.map_err(failed)?;
        } else {
            let mut stage = room(attribute.extent.elements(), memory.datatype.size())?;
            detached(py, || convert(&mut stage))?.map_err(failed)?;
            memory.finish(py, &stage, &arena, target)?;
        }
        Ok(made.into_any())
    }
}
