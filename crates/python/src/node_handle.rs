//! Objects of a file as instances of the class that fits them.

use std::sync::Arc;

use hyperslab::Node;
use pyo3::prelude::*;

use crate::dataset::DatasetHandle;
use crate::handles::{DatatypeHandle, GroupHandle, ObjectHandle};
use crate::shared::{Backing, Shared};

/// An object as the class that fits it. An external link led into another file than `shared`, which is then a file of its own.
pub(crate) fn handle(py: Python<'_>, shared: &Arc<Shared>, node: Node) -> PyResult<Py<PyAny>> {
    let other = (node.file() != shared.file).then(|| Shared::new(node.file(), Backing::Path(None)));
    let shared = other.as_ref().unwrap_or(shared);
    let base = PyClassInitializer::from(ObjectHandle { shared: shared.clone(), node: node.clone() });
    Ok(match node {
        Node::Group(group) => Py::new(py, base.add_subclass(GroupHandle(group)))?.into_any(),
        Node::Dataset(dataset) => DatasetHandle::open(py, base, shared, dataset)?,
        Node::Datatype(_) => Py::new(py, base.add_subclass(DatatypeHandle))?.into_any(),
    })
}
