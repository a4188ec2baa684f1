//! What groups, datasets and named datatypes have in common, and named datatypes themselves.

use hyperslab::Node;
use hyperslab::dtype::Arena;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array::Array;
use crate::attribute::AttributeHandle;
use crate::engine::{detached, engine};
use crate::error::exception;
use crate::given::Given;
use crate::handles::{DatatypeHandle, FileHandle, ObjectHandle};
use crate::names::{name, name_bytes};
use crate::numpy_type::{Dtype, dtype_of};
use crate::reference::{self, PyReference};
use crate::stored_type::StoredType;

#[pymethods]
impl ObjectHandle {
    #[getter]
    fn valid(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.shared.is_valid() && self.shared.look(py, || self.node.is_alive())?)
    }

    #[getter]
    fn address(&self) -> u64 {
        self.node.address()
    }

    #[getter]
    fn file(&self) -> FileHandle {
        FileHandle(self.shared.clone())
    }

    /// A reference to it.
    fn reference(&self) -> PyResult<PyReference> {
        reference::to_object(self.shared.file()?, self.node.address())
    }

    /// How many attributes there are.
    fn attribute_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.shared.file()?;
        engine(py, || self.node.attribute_count())
    }

    /// The names of the attributes: in the order of their creation if that is kept, else of their bytes.
    fn attribute_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.shared.file()?;
        let names = PyList::empty(py);
        for bytes in engine(py, || self.node.attribute_names_as_made())? {
            names.append(name(py, &bytes)?)?;
        }
        Ok(names)
    }

    /// The attribute with this name, if there is one.
    fn attribute(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Option<AttributeHandle>> {
        self.shared.file()?;
        let name = name_bytes(name)?;
        match detached(py, || self.node.attribute(&name))? {
            Ok(attribute) => Ok(Some(AttributeHandle { shared: self.shared.clone(), attribute })),
            Err(hyperslab::Error::Missing(_)) => Ok(None),
            Err(why) => Err(exception(why)),
        }
    }

    /// Gives it an attribute, instead of one that may have this name: the elements of an array, each of `dtype`, stored as a dtype or
    /// a named datatype. Without an array the attribute has no elements.
    #[pyo3(signature = (name, stored, array=None, dtype=None, shape=None))]
    fn set_attribute(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        stored: &Bound<'_, PyAny>,
        array: Option<Array<'_>>,
        dtype: Option<Dtype<'_>>,
        shape: Option<Vec<u64>>,
    ) -> PyResult<()> {
        let (file, name, kind) = (self.shared.file()?, name_bytes(name)?, StoredType::of(stored)?);
        let datatype = kind.datatype(py)?;
        let new = self.node.new_attribute_of(datatype.clone());
        let new = match &kind {
            StoredType::Own(_) => new,
            StoredType::Committed(named) => new.committed(named),
        };
        let (Some(array), Some(dtype)) = (array, dtype) else {
            let arena = Arena::default();
            return engine(py, || new.empty().write_converted(name, &datatype, &[], &arena));
        };
        let given = Given::new(file, &array, &dtype, &datatype)?;
        let new = new.shape(shape.unwrap_or_default());
        let bytes = given.bytes()?;
        engine(py, || new.write_converted(name, &given.datatype, bytes, &given.arena))
    }

    /// Takes an attribute away.
    fn remove_attribute(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        self.shared.file()?;
        let name = name_bytes(name)?;
        engine(py, || self.node.remove_attribute(name))
    }

    /// Gives an attribute another name.
    fn rename_attribute(&self, py: Python<'_>, from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<()> {
        self.shared.file()?;
        let (from, to) = (name_bytes(from)?, name_bytes(to)?);
        engine(py, || self.node.rename_attribute(from, to))
    }

    fn __eq__(&self, other: &ObjectHandle) -> bool {
        self.node.file() == other.node.file() && self.address() == other.address()
    }

    fn __hash__(&self) -> u64 {
        self.address()
    }
}

#[pymethods]
impl DatatypeHandle {
    #[getter]
    fn dtype<'py>(this: PyRef<'py, Self>, py: Python<'py>) -> PyResult<Dtype<'py>> {
        let object = this.as_super();
        object.shared.file()?;
        match &object.node {
            Node::Datatype(named) => dtype_of(py, &engine(py, || named.datatype())?),
            other => Err(PyTypeError::new_err(format!("a {} is no datatype", other.kind()))),
        }
    }
}
