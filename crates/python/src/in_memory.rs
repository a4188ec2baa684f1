//! A file whose bytes are in memory, and where they go when it is flushed or closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::driver::{Driver, Memory, Transfer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::exception;

pub(crate) struct InMemory {
    bytes: Arc<Memory>,
    /// A `Store` of `_stores.py`.
    store: Option<Py<PyAny>>,
    /// Whether the file was closed and its bytes are not stored yet.
    expected: AtomicBool,
}

impl InMemory {
    pub(crate) fn new(bytes: Arc<Memory>, store: Option<Py<PyAny>>) -> InMemory {
        InMemory { bytes, store, expected: AtomicBool::new(false) }
    }

    /// The bytes as they were last flushed.
    pub(crate) fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let failed = |why: hyperslab::driver::Error| exception(why.into());
        let length = usize::try_from(self.bytes.len().map_err(failed)?).unwrap_or(usize::MAX);
        PyBytes::new_with(py, length, |bytes| self.bytes.read_at(0, bytes, &Transfer::default()).map_err(failed))
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
