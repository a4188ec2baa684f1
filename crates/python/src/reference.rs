//! References as Python objects: opaque values that a file understands.

use hyperslab::space::Space;
use hyperslab::{Error, File, Node};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::{exception, of_space};

/// A stored reference to an object. `file[reference]` is the object; a null reference is false.
#[pyclass(name = "Reference", module = "hyperslab", frozen, subclass, hash, eq)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PyReference {
    /// The value as it is stored.
    pub(crate) stored: Vec<u8>,
    pub(crate) form: Form,
}

/// How a reference is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// The address of an object.
    Object,
    /// A place in the global heap.
    Region,
    /// The form of libhdf5 1.12.
    Revised,
}

/// A stored reference to a part of a dataset. `file[reference]` is the dataset, `dataset[reference]` that part of its values.
#[pyclass(name = "RegionReference", module = "hyperslab", frozen, extends = PyReference)]
pub(crate) struct PyRegionReference;

#[pymethods]
impl PyReference {
    fn __bool__(&self) -> bool {
        self.stored.iter().any(|&byte| byte != 0)
    }

    fn __repr__(&self) -> &'static str {
        if self.__bool__() { "<HDF5 object reference>" } else { "<HDF5 object reference (null)>" }
    }
}

#[pymethods]
impl PyRegionReference {
    fn __repr__(this: PyRef<'_, Self>) -> &'static str {
        if this.as_super().__bool__() { "<HDF5 region reference>" } else { "<HDF5 region reference (null)>" }
    }
}

/// A reference of the class that fits its form.
pub(crate) fn object(py: Python<'_>, stored: &[u8], form: Form) -> PyResult<Py<PyAny>> {
    let reference = PyReference { stored: stored.to_vec(), form };
    if form == Form::Region {
        let region = PyClassInitializer::from(reference).add_subclass(PyRegionReference);
        return Ok(Py::new(py, region)?.into_any());
    }
    Ok(Py::new(py, reference)?.into_any())
}

impl PyReference {
    /// The object that it points at, if it points at any.
    pub(crate) fn object(&self, file: &File) -> PyResult<Option<Node>> {
        if !self.__bool__() {
            return Ok(None);
        }
        let address = match self.form {
            Form::Object => address(&self.stored),
            Form::Region => self.heap_object(file)?.0,
            Form::Revised => return Err(exception(Error::Unsupported("following a reference of this kind"))),
        };
        file.at(address).map(Some).map_err(exception)
    }

    /// The region that it points at, with the extent of the dataset.
    pub(crate) fn region(&self, file: &File) -> PyResult<Space> {
        let wrong = || PyTypeError::new_err("not a region reference");
        if self.form != Form::Region || !self.__bool__() {
            return Err(wrong());
        }
        let (address, selection) = self.heap_object(file)?;
        match file.at(address).map_err(exception)? {
            Node::Dataset(dataset) => {
                let (space, _) = Space::decode_selection(dataset.extent().clone(), &selection).map_err(of_space)?;
                Ok(space)
            }
            _ => Err(wrong()),
        }
    }

    /// The address of the object, and the bytes of the selection.
    fn heap_object(&self, file: &File) -> PyResult<(u64, Vec<u8>)> {
        let (heap, index) = self.stored.split_at_checked(self.stored.len().saturating_sub(4)).unwrap_or_default();
        let index = index.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let object = file.heap().object(address(heap), index).map_err(exception)?;
        let (at, selection) = object.split_at_checked(file.address_width()).unwrap_or_default();
        Ok((address(at), selection.to_vec()))
    }
}

/// A little-endian address of any width.
fn address(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |address, &byte| address << 8 | u64::from(byte))
}
