//! Groups, and their links.

use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::{Link, Node, Target};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::create;
use crate::engine::engine;
use crate::handles::{GroupHandle, ObjectHandle};
use crate::names::{name, name_bytes};
use crate::node_handle::handle;
use crate::numpy_type::Dtype;
use crate::stored_type::stored_type;

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
