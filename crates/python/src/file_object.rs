//! A file object of Python as storage to read from: range by range, under the interpreter's lock.
//!
//! Threads of the engine wait for the interpreter's lock here, so no thread that has it may wait for the engine: every call that reads goes through
//! `engine`.

use std::io;

use hyperslab::driver::{Capabilities, Driver, Error, Operation, Result, Transfer, Why};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::reentrant_lock::ReentrantLock;

pub(crate) struct FileObject {
    file: Py<PyAny>,
    /// Held from a `seek` to the end of the reads after it.
    lock: ReentrantLock,
    len: u64,
}

impl FileObject {
    /// From an object with `seek` and `read`.
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> PyResult<FileObject> {
        let told = file.call_method1("seek", (0, 2))?;
        let len = if told.is_none() { file.call_method0("tell")?.extract()? } else { told.extract()? };
        Ok(FileObject { file: file.clone().unbind(), lock: ReentrantLock::default(), len })
    }

    fn read(&self, py: Python<'_>, addr: u64, buf: &mut [u8]) -> PyResult<()> {
        let _locked = self.lock.lock(py)?;
        let file = self.file.bind(py);
        file.call_method1("seek", (addr,))?;
        let mut rest = buf;
        while !rest.is_empty() {
            let wanted = rest.len();
            let read: PyBackedBytes = file.call_method1("read", (wanted,))?.extract()?;
            let Some((part, after)) = rest.split_at_mut_checked(read.len()).filter(|_| !read.is_empty()) else {
                let why = format!("the file object gave {} bytes where {wanted} were asked for", read.len());
                return Err(pyo3::exceptions::PyOSError::new_err(why));
            };
            part.copy_from_slice(&read);
            rest = after;
        }
        Ok(())
    }

    fn fail(operation: Operation, addr: u64, len: usize, why: impl Into<Why>) -> Error {
        Error::new("file object", operation, addr, len as u64, why)
    }
}

impl Driver for FileObject {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        let length = buf.len();
        let fail = |why: Why| FileObject::fail(Operation::Read, addr, length, why);
        if addr.checked_add(length as u64).is_none_or(|end| end > self.len) && length > 0 {
            return Err(fail(Why::PastEnd { end: self.len }));
        }
        let read = Python::try_attach(|py| self.read(py, addr, buf));
        let ended = || fail(io::Error::other("the interpreter has ended").into());
        read.ok_or_else(ended)?.map_err(|why| fail(io::Error::other(why.to_string()).into()))
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        Err(FileObject::fail(Operation::Write, addr, buf.len(), Why::ReadOnly))
    }

    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        Err(FileObject::fail(Operation::SetLen, len, 0, Why::ReadOnly))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &str {
        "file object"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::empty()
    }
}
