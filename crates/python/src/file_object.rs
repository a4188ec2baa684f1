//! A file object of Python as storage: read and written range by range, under the interpreter's lock.
//!
//! Threads of the engine wait for the interpreter's lock here, so no thread that has it may wait for the engine: every call that reads or changes
//! the file goes through `engine`, and those that only look at what is in memory through `Shared::look`.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hyperslab::driver::cores::fork::Process;
use hyperslab::driver::{Capabilities, Driver, Error, Operation, Result, Transfer, Why};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::closed;
use crate::reentrant_lock::ReentrantLock;

/// Bytes that are given to the object at a time, as a copy.
const TOGETHER: usize = 1 << 20;

pub(crate) struct FileObject {
    /// Nothing once the file is closed.
    file: Mutex<Option<Py<PyAny>>>,
    /// Held from a `seek` to the end of what is read or written there.
    lock: ReentrantLock,
    len: AtomicU64,
    is_writable: bool,
    /// The process that opened it.
    process: Process,
}

impl FileObject {
    /// From an object with `seek` and `read`, and `write` if it is to be changed.
    pub(crate) fn new(file: &Bound<'_, PyAny>, is_writable: bool) -> PyResult<FileObject> {
        let told = file.call_method1("seek", (0, 2))?;
        let len: u64 = if told.is_none() { file.call_method0("tell")?.extract()? } else { told.extract()? };
        let (file, lock, process) =
            (Mutex::new(Some(file.clone().unbind())), ReentrantLock::default(), Process::this());
        Ok(FileObject { file, lock, len: AtomicU64::new(len), is_writable, process })
    }

    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().map(|file| file.bind(py).clone()).ok_or_else(closed)
    }

    /// Lets the object go. The thread that closes the file does so, which the interpreter waits for when it ends: the object may run any code.
    pub(crate) fn release(&self) {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(file);
    }

    fn read(&self, py: Python<'_>, addr: u64, buf: &mut [u8]) -> PyResult<()> {
        let _locked = self.lock.lock(py)?;
        let file = self.object(py)?;
        file.call_method1("seek", (addr,))?;
        let mut rest = buf;
        while !rest.is_empty() {
            let wanted = rest.len();
            let read: PyBackedBytes = file.call_method1("read", (wanted,))?.extract()?;
            let Some((part, after)) = rest.split_at_mut_checked(read.len()).filter(|_| !read.is_empty()) else {
                let why = format!("the file object gave {} bytes where {wanted} were asked for", read.len());
                return Err(PyOSError::new_err(why));
            };
            part.copy_from_slice(&read);
            rest = after;
        }
        Ok(())
    }

    fn write(&self, py: Python<'_>, addr: u64, buf: &[u8]) -> PyResult<()> {
        let _locked = self.lock.lock(py)?;
        let file = self.object(py)?;
        file.call_method1("seek", (addr,))?;
        let mut rest = buf;
        while !rest.is_empty() {
            let (part, _) = rest.split_at(rest.len().min(TOGETHER));
            let told: Option<usize> = file.call_method1("write", (PyBytes::new(py, part),))?.extract()?;
            // An object that is not buffered may take less than it is given; one that says nothing has taken all.
            let taken = told.unwrap_or(part.len());
            let Some(after) = rest.get(taken..).filter(|_| (1..=part.len()).contains(&taken)) else {
                let why = format!("the file object took {taken} of {} bytes", part.len());
                return Err(PyOSError::new_err(why));
            };
            rest = after;
        }
        self.len.fetch_max(addr.saturating_add(buf.len() as u64), Ordering::Relaxed);
        Ok(())
    }

    /// Cuts the object, if it can be cut, or writes its last byte.
    fn resize(&self, py: Python<'_>, len: u64) -> PyResult<()> {
        let _locked = self.lock.lock(py)?;
        let (file, now) = (self.object(py)?, self.len.load(Ordering::Relaxed));
        if len > now {
            return self.write(py, len - 1, &[0]);
        }
        if len < now && file.hasattr("truncate")? {
            file.call_method1("truncate", (len,))?;
        }
        self.len.store(len, Ordering::Relaxed);
        Ok(())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let _locked = self.lock.lock(py)?;
        let file = self.object(py)?;
        if file.hasattr("flush")? { file.call_method0("flush").map(drop) } else { Ok(()) }
    }

    fn fail(operation: Operation, addr: u64, len: usize, why: impl Into<Why>) -> Error {
        Error::new("file object", operation, addr, len as u64, why)
    }

    /// Does work under the interpreter's lock; what is wrong as an error of the operation.
    fn attached(
        (operation, addr, len): (Operation, u64, usize),
        work: impl FnOnce(Python<'_>) -> PyResult<()>,
    ) -> Result<()> {
        let fail = |why: io::Error| FileObject::fail(operation, addr, len, why);
        let ended = || fail(io::Error::other("the interpreter has ended"));
        Python::try_attach(|py| work(py).map_err(|why| system_error(py, &why))).ok_or_else(ended)?.map_err(fail)
    }

    /// Whether this thread is in a method of the object, which must not use the file: the engine waits for the method.
    pub(crate) fn is_at_work(&self) -> bool {
        self.lock.is_held()
    }

    /// Fails if the object cannot be changed here.
    fn check_writable(&self, operation: Operation, addr: u64, len: usize) -> Result<()> {
        match () {
            () if !self.is_writable => Err(FileObject::fail(operation, addr, len, Why::ReadOnly)),
            () if !self.process.is_this() => Err(FileObject::fail(operation, addr, len, Why::Inherited)),
            () => Ok(()),
        }
    }
}

/// An exception as an error of the system, with its number if it has one.
fn system_error(py: Python<'_>, why: &PyErr) -> io::Error {
    let number = why.value(py).getattr("errno").and_then(|number| number.extract::<i32>());
    number.map_or_else(|_| io::Error::other(why.to_string()), io::Error::from_raw_os_error)
}

impl Driver for FileObject {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        let (length, end) = (buf.len(), self.len.load(Ordering::Relaxed));
        if addr.checked_add(length as u64).is_none_or(|last| last > end) && length > 0 {
            return Err(FileObject::fail(Operation::Read, addr, length, Why::PastEnd { end }));
        }
        FileObject::attached((Operation::Read, addr, length), |py| self.read(py, addr, buf))
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        self.check_writable(Operation::Write, addr, buf.len())?;
        if buf.is_empty() {
            return Ok(());
        }
        FileObject::attached((Operation::Write, addr, buf.len()), |py| self.write(py, addr, buf))
    }

    fn len(&self, _: &Transfer) -> Result<u64> {
        Ok(self.len.load(Ordering::Relaxed))
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        self.check_writable(Operation::SetLen, len, 0)?;
        FileObject::attached((Operation::SetLen, len, 0), |py| self.resize(py, len))
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        Driver::flush(self, transfer)
    }

    fn flush(&self, _: &Transfer) -> Result<()> {
        if !self.is_writable {
            return Ok(());
        }
        self.check_writable(Operation::Sync, 0, 0)?;
        FileObject::attached((Operation::Sync, 0, 0), |py| self.flush(py))
    }

    fn name(&self) -> &str {
        "file object"
    }

    fn capabilities(&self) -> Capabilities {
        if self.is_writable { Capabilities::WRITE } else { Capabilities::empty() }
    }
}
