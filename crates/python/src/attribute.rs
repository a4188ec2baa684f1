//! Attributes: small arrays that are read whole.

use std::sync::Arc;

use hyperslab::dtype::Arena;
use hyperslab::{Attribute, Error, ErrorKind};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::{bytes, room, zeros};
use crate::engine::{detached, engine};
use crate::error::{exception, too_large};
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
        self.shared.file()?;
        let mut attribute = self.attribute.clone();
        loop {
            if let Some(array) = read_as_found(py, &attribute)? {
                return Ok(array);
            }
            attribute = engine(py, || attribute.renewed())?;
        }
    }
}

/// The values of an attribute; nothing if another thread gave it new ones since it was found.
fn read_as_found<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dtype = dtype_of(py, &attribute.datatype)?;
    let memory = Memory::new(&dtype, &attribute.datatype)?;
    let shape = attribute.extent.dims().iter().map(|&size| usize::try_from(size).map_err(|_| too_large(size)));
    let mut made = zeros(&shape.collect::<PyResult<Vec<_>>>()?, &dtype)?;
    let (target, mut arena) = (bytes(&mut made)?, Arena::default());
    let mut read = |to: &mut [u8]| match detached(py, || attribute.read_converted(&memory.datatype, to, &mut arena))? {
        Ok(()) => Ok(true),
        Err(Error::Outdated(_)) => Ok(false),
        Err(why) if why.kind() == ErrorKind::OutOfMemory => Err(exception(why)),
        Err(why) => Err(PyOSError::new_err(format!("Can't read attribute: {why}"))),
    };
    let is_current = match memory.steps {
        None => read(target)?,
        Some(_) => {
            let mut stage = room(attribute.len(), memory.datatype.size())?;
            let is_current = read(&mut stage)?;
            if is_current {
                memory.finish(py, &stage, &arena, target)?;
            }
            is_current
        }
    };
    Ok(is_current.then(|| made.into_any()))
}
