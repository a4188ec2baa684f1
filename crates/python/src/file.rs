//! An open file, and whether it still is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::File;
use hyperslab::driver::Memory;
use pyo3::prelude::*;

use crate::error::{closed, exception};
use crate::object;
use crate::reference::PyReference;

/// A file that all its objects hold.
pub(crate) struct Shared {
    pub(crate) file: File,
    open: AtomicBool,
}

impl Shared {
    pub(crate) fn new(file: File) -> Shared {
        Shared { file, open: AtomicBool::new(true) }
    }

    /// The file, unless it is closed.
    pub(crate) fn file(&self) -> PyResult<&File> {
        if self.is_open() { Ok(&self.file) } else { Err(closed()) }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }
}

/// An open file.
#[pyclass(name = "FileHandle", module = "hyperslab._hyperslab", frozen)]
pub(crate) struct FileHandle(pub(crate) Arc<Shared>);

#[pymethods]
impl FileHandle {
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<FileHandle> {
        let file = py.detach(|| File::open(&path)).map_err(exception)?;
        Ok(FileHandle(Arc::new(Shared::new(file))))
    }

    /// A file whose bytes are in memory.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<FileHandle> {
        let file = py.detach(|| File::open_driver(Arc::new(Memory::from(bytes)))).map_err(exception)?;
        Ok(FileHandle(Arc::new(Shared::new(file))))
    }

    /// From now on no object of the file can be used.
    fn close(&self) {
        self.0.open.store(false, Ordering::Relaxed);
    }

    #[getter]
    fn valid(&self) -> bool {
        self.0.is_open()
    }

    /// The name that it was opened with.
    #[getter]
    fn filename(&self) -> PyResult<std::ffi::OsString> {
        let path = self.0.file()?.path();
        Ok(path.unwrap_or(Path::new("")).as_os_str().to_owned())
    }

    #[getter]
    fn driver(&self) -> PyResult<&'static str> {
        Ok(self.0.file()?.driver())
    }

    #[getter]
    fn user_block(&self) -> PyResult<u64> {
        Ok(self.0.file()?.user_block())
    }

    /// The root group.
    fn root(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let file = self.0.file()?;
        let root = py.detach(|| file.root()).map_err(exception)?;
        object::handle(py, &self.0, hyperslab::Node::Group(root))
    }

    /// The object that a reference points at; nothing for null.
    fn dereference(&self, py: Python<'_>, reference: &PyReference) -> PyResult<Option<Py<PyAny>>> {
        let file = self.0.file()?;
        let node = py.detach(|| reference.object(file))?;
        node.map(|node| object::handle(py, &self.0, node)).transpose()
    }

    fn __eq__(&self, other: &FileHandle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
