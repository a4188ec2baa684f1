//! References as Python objects: opaque values that a file understands.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hyperslab::dtype::{Class, Datatype, Reference};
use hyperslab::space::Space;
use hyperslab::{Error, File, Node, Part, Referent};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::exception;

/// A stored reference to an object. `file[reference]` is the object; a null reference is false.
#[pyclass(name = "Reference", module = "hyperslab", frozen, subclass)]
pub(crate) struct PyReference {
    /// The value as it is stored.
    stored: Vec<u8>,
    /// The type that it is stored with.
    datatype: Arc<Datatype>,
}

/// A stored reference to a part of a dataset. `file[reference]` is the dataset, `dataset[reference]` that part of its values.
#[pyclass(name = "RegionReference", module = "hyperslab", frozen, extends = PyReference)]
pub(crate) struct PyRegionReference;

/// The first byte of a revised reference to a region.
const REVISED_REGION: u8 = 3;

#[pymethods]
impl PyReference {
    fn __bool__(&self) -> bool {
        self.stored.iter().any(|&byte| byte != 0)
    }

    fn __eq__(&self, other: &PyReference) -> bool {
        self.stored == other.stored && *self.datatype == *other.datatype
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.stored.hash(&mut hasher);
        hasher.finish()
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

/// A reference of the class that fits its type; of the revised ones only the value tells.
pub(crate) fn object(py: Python<'_>, stored: &[u8], datatype: &Arc<Datatype>) -> PyResult<Py<PyAny>> {
    let is_region = match datatype.class() {
        Class::Reference(Reference::Region) => true,
        Class::Reference(Reference::Revised(_)) => stored.first() == Some(&REVISED_REGION),
        _ => false,
    };
    let reference = PyReference { stored: stored.to_vec(), datatype: datatype.clone() };
    if is_region {
        let region = PyClassInitializer::from(reference).add_subclass(PyRegionReference);
        return Ok(Py::new(py, region)?.into_any());
    }
    Ok(Py::new(py, reference)?.into_any())
}

impl PyReference {
    /// The object that it points at, if it points at any.
    pub(crate) fn object(&self, file: &File) -> PyResult<Option<Node>> {
        let Some(referent) = self.referent(file)? else { return Ok(None) };
        if referent.file.is_some() {
            return Err(exception(Error::Unsupported("following a reference into another file")));
        }
        file.at(referent.address).map(Some).map_err(exception)
    }

    /// The region that it points at, with the extent of the dataset.
    pub(crate) fn region(&self, file: &File) -> PyResult<Space> {
        match self.referent(file)? {
            Some(Referent { part: Part::Region(region), .. }) => Ok(*region),
            _ => Err(PyTypeError::new_err("not a region reference")),
        }
    }

    fn referent(&self, file: &File) -> PyResult<Option<Referent>> {
        file.dereference(&self.datatype, &self.stored).map_err(exception)
    }
}
