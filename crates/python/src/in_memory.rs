//! A file whose bytes are in memory, and where they go when it is flushed or closed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::driver::Memory;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) struct InMemory {
    bytes: Arc<Memory>,
    /// The path that it was opened with, if there was one.
    pub(crate) path: Option<PathBuf>,
    /// A `Store` of `_store.py`.
    store: Option<Py<PyAny>>,
    /// Whether the file was closed and its bytes are not stored yet.
    expected: AtomicBool,
}

impl InMemory {
    pub(crate) fn new(bytes: Arc<Memory>, path: Option<PathBuf>, store: Option<Py<PyAny>>) -> InMemory {
        InMemory { bytes, path, store, expected: AtomicBool::new(false) }
    }

    /// The bytes of this moment: what was flushed, and what a flush by another thread has written so far.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        // To make an object of bytes runs no other code of Python.
        self.bytes.inspect(|bytes| {
            PyBytes::new_with(py, bytes.len(), |image| {
                image.copy_from_slice(bytes);
                Ok(())
            })
        })
    }

    /// Stores the bytes.
    pub(crate) fn store(&self, py: Python<'_>) -> PyResult<()> {
        let Some(store) = self.store.as_ref().map(|store| store.bind(py)) else { return Ok(()) };
        store.call_method1("write", (self.image(py)?,)).map(drop)
    }

    /// From now on the bytes do not change any more.
    pub(crate) fn expect_store(&self) {
        self.expected.store(true, Ordering::Relaxed);
    }

    /// Stores the bytes that do not change any more, once.
    pub(crate) fn store_if_expected(&self, py: Python<'_>) -> PyResult<()> {
        if self.expected.swap(false, Ordering::Relaxed) {
            return self.store(py).inspect_err(|_| self.expect_store());
        }
        Ok(())
    }
}
