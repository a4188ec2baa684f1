//! What groups, datasets and named datatypes have in common, and groups themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::dtype::Arena;
use hyperslab::{Group, Link, Node, Target};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::array::Array;
use crate::attribute::AttributeHandle;
use crate::create;
use crate::dataset::DatasetHandle;
use crate::engine::{detached, engine};
use crate::error::exception;
use crate::file::FileHandle;
use crate::given::Given;
use crate::numpy_type::{Dtype, dtype_of};
use crate::reference::{self, PyReference};
use crate::shared::{Backing, Shared};
use crate::stored_type::{StoredType, stored_type};

/// How often a link of any file was taken away, moved, or given to an object that was there.
static LINK_CHANGES: AtomicU64 = AtomicU64::new(0);

/// As long as this number stays the same, a path that led to an object still does, and an object that had no path has none.
#[pyfunction]
pub(crate) fn link_changes() -> u64 {
    LINK_CHANGES.load(Ordering::Acquire)
}

/// Does what changes links of objects that are there.
fn change_links(py: Python<'_>, change: impl FnOnce() -> hyperslab::Result<()> + Send) -> PyResult<()> {
    let changed = engine(py, change);
    LINK_CHANGES.fetch_add(1, Ordering::AcqRel);
    changed
}

/// An object of a file.
#[pyclass(name = "ObjectHandle", module = "hyperslab._hyperslab", frozen, subclass)]
pub(crate) struct ObjectHandle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) node: Node,
}

/// An object that holds links.
#[pyclass(name = "GroupHandle", module = "hyperslab._hyperslab", frozen, extends = ObjectHandle)]
pub(crate) struct GroupHandle(pub(crate) Group);

/// A committed datatype.
#[pyclass(name = "DatatypeHandle", module = "hyperslab._hyperslab", frozen, extends = ObjectHandle)]
pub(crate) struct DatatypeHandle;

/// An object as the class that fits it. An external link led into another file than `shared`, which is then a file of its own.
pub(crate) fn handle(py: Python<'_>, shared: &Arc<Shared>, node: Node) -> PyResult<Py<PyAny>> {
    let other = (node.file() != shared.file).then(|| Shared::new(node.file(), Backing::Path(None)));
    let shared = other.as_ref().unwrap_or(shared);
    let base = PyClassInitializer::from(ObjectHandle { shared: shared.clone(), node: node.clone() });
    Ok(match node {
        Node::Group(group) => Py::new(py, base.add_subclass(GroupHandle(group)))?.into_any(),
        Node::Dataset(dataset) => {
            Py::new(py, base.add_subclass(DatasetHandle::new(shared.clone(), dataset)))?.into_any()
        }
        Node::Datatype(_) => Py::new(py, base.add_subclass(DatatypeHandle))?.into_any(),
    })
}

/// A name as h5py gives it: text if it is UTF-8, else its bytes.
pub(crate) fn name<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => text.into_pyobject(py)?.into_any(),
        Err(_) => PyBytes::new(py, bytes).into_any(),
    })
}

/// The bytes of a name that was given as text or bytes.
pub(crate) fn name_bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let text = given.cast::<PyString>();
    let wrong = |_| PyTypeError::new_err(format!("A name should be string or bytes, not {}", given.get_type()));
    Ok(text.map_err(wrong)?.to_str()?.as_bytes().to_vec())
}

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
impl GroupHandle {
    /// How many links there are.
    fn link_count(this: PyRef<'_, Self>, py: Python<'_>) -> PyResult<u64> {
        this.as_super().shared.file()?;
        let group = &this.0;
        engine(py, || group.len())
    }

    /// All links, each a name and what it stands for: in the order of their creation if that is kept and asked for, else of
    /// their names' bytes.
    #[pyo3(signature = (by_name=false))]
    fn links<'py>(this: PyRef<'py, Self>, py: Python<'py>, by_name: bool) -> PyResult<Bound<'py, PyList>> {
        this.as_super().shared.file()?;
        let group = &this.0;
        let links = engine(py, || if by_name { group.links() } else { group.links_as_made() })?;
        let all = PyList::empty(py);
        for link in links {
            all.append((name(py, &link.name)?, target(py, &link)?))?;
        }
        Ok(all)
    }

    /// What the link with this name stands for: `("hard", address)`, `("soft", path)`, `("external", file, path)` or
    /// `("user", class)`; nothing if there is no such link.
    fn link<'py>(
        this: PyRef<'py, Self>,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        this.as_super().shared.file()?;
        let (wanted, group) = (name_bytes(name)?, &this.0);
        let link = engine(py, || group.link(&wanted))?;
        link.map(|link| target(py, &link)).transpose()
    }

    /// The object that a path leads to.
    fn get(this: PyRef<'_, Self>, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let shared = &this.as_super().shared;
        shared.file()?;
        let (path, group) = (name_bytes(path)?, &this.0);
        let node = engine(py, || group.get(&path))?;
        handle(py, shared, node)
    }

    /// Makes a group.
    #[pyo3(signature = (path, track_order=false, track_times=false))]
    fn create_group(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        track_order: bool,
        track_times: bool,
    ) -> PyResult<Py<PyAny>> {
        let (shared, path) = (&this.as_super().shared, name_bytes(path)?);
        shared.file()?;
        let new = this.0.new_group().track_order(track_order).track_times(track_times);
        let made = engine(py, || new.create(path))?;
        handle(py, shared, Node::Group(made))
    }

    /// Makes a dataset; `options` are those of `_create.py`.
    fn create_dataset(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        stored: &Bound<'_, PyAny>,
        shape: Option<&Bound<'_, PyAny>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Py<PyAny>> {
        let (shared, path) = (&this.as_super().shared, name_bytes(path)?);
        shared.file()?;
        create::create(py, shared, &this.0, &path, stored, shape, options)
    }

    /// Gives a datatype a name.
    fn commit_datatype(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        dtype: &Dtype<'_>,
    ) -> PyResult<Py<PyAny>> {
        let (shared, path, datatype) = (&this.as_super().shared, name_bytes(path)?, stored_type(dtype)?);
        shared.file()?;
        let group = &this.0;
        let made = engine(py, || group.commit_datatype(path, &datatype))?;
        handle(py, shared, Node::Datatype(made))
    }

    /// Gives an object another name.
    fn hard_link(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        object: &ObjectHandle,
    ) -> PyResult<()> {
        this.as_super().shared.file()?;
        let (path, group) = (name_bytes(path)?, &this.0);
        change_links(py, || group.hard_link(path, &object.node))
    }

    /// Makes a link to a path.
    fn soft_link(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        this.as_super().shared.file()?;
        let (path, target, group) = (name_bytes(path)?, name_bytes(target)?, &this.0);
        engine(py, || group.soft_link(path, target))
    }

    /// Makes a link to a path in another file.
    fn external_link(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        file: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        this.as_super().shared.file()?;
        let (path, file, target, group) = (name_bytes(path)?, name_bytes(file)?, name_bytes(target)?, &this.0);
        engine(py, || group.external_link(path, file, target))
    }

    /// Takes a name away.
    fn delete(this: PyRef<'_, Self>, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        this.as_super().shared.file()?;
        let (path, group) = (name_bytes(path)?, &this.0);
        change_links(py, || group.delete(path))
    }

    /// Gives a link another path.
    fn rename(this: PyRef<'_, Self>, py: Python<'_>, from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<()> {
        this.as_super().shared.file()?;
        let (from, to, group) = (name_bytes(from)?, name_bytes(to)?, &this.0);
        change_links(py, || group.rename(from, to))
    }
}

fn target<'py>(py: Python<'py>, link: &Link) -> PyResult<Bound<'py, PyTuple>> {
    match &link.target {
        Target::Hard(address) => ("hard", *address).into_pyobject(py),
        Target::Soft(path) => ("soft", name(py, path)?).into_pyobject(py),
        Target::External { file, path } => ("external", name(py, file)?, name(py, path)?).into_pyobject(py),
        Target::User { class, .. } => ("user", *class).into_pyobject(py),
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
