//! The classes of files and objects as Python has them: what they hold. What they can do is in the files of their methods.

use std::sync::Arc;

use hyperslab::{Group, Node};
use pyo3::prelude::*;

use crate::shared::Shared;

/// An open file.
#[pyclass(name = "FileHandle", module = "hyperslab._hyperslab", frozen)]
pub(crate) struct FileHandle(pub(crate) Arc<Shared>);

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
