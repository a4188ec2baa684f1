//! An open file as all its Python objects hold it: whether it can be used, and what happens when the last of them goes.
//!
//! ```text
//!  last object goes ──► flush, or close and store if it is in memory ──► engine closes the file
//!  interpreter ends ──► `at_exit`: flush and store what is open ──► `after_exit`: close what is still open
//! ```
//!
//! What fails there goes to `sys.unraisablehook`. A forked process does none of it with what its parent opened.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyperslab::File;
use hyperslab::driver::cores::fork::{self, Process};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::engine::engine;
use crate::error::{closed, torn};
use crate::in_memory::InMemory;

/// A file that all its objects hold.
pub(crate) struct Shared {
    pub(crate) file: File,
    open: AtomicBool,
    /// Its bytes, if they are in memory.
    memory: Option<InMemory>,
    /// The process that opened it.
    process: Process,
}

/// Files that may be changed, open or not.
static WRITABLE: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

impl Shared {
    pub(crate) fn new(file: File, memory: Option<InMemory>) -> Arc<Shared> {
        let is_writable = file.is_writable();
        let shared = Arc::new(Shared { file, open: AtomicBool::new(true), memory, process: Process::this() });
        if is_writable {
            let mut all = WRITABLE.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() == all.capacity() {
                all.retain(|known| known.strong_count() > 0);
            }
            all.push(Arc::downgrade(&shared));
        }
        shared
    }

    /// The file, unless it is closed, or a fork left its locks as they were. What a forked process may do with it, the engine says.
    pub(crate) fn file(&self) -> PyResult<&File> {
        match () {
            () if !self.is_open() => Err(closed()),
            () if self.process.is_torn() => Err(torn()),
            () => Ok(&self.file),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Whether objects of the file can be used.
    pub(crate) fn is_valid(&self) -> bool {
        self.file().is_ok()
    }

    /// Writes everything that was changed so far, and stores the bytes of a file that is in memory.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.file()?;
        if !file.is_writable() {
            return Ok(());
        }
        let flushed = engine(py, || file.flush());
        // What could be written is stored, whatever could not.
        let memory = self.memory.as_ref().filter(|_| self.process.is_this());
        let stored = memory.map_or(Ok(()), |memory| memory.store(py));
        flushed.and(stored)
    }

    /// Closes the file. The bytes of one that is in memory are stored; if that fails, closing it again tries again. What of a file cannot be
    /// written does not keep the rest from being stored.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let was_open = self.open.swap(false, Ordering::Relaxed);
        if !self.process.is_this() {
            return Ok(());
        }
        let mut closed = Ok(());
        if was_open {
            closed = engine(py, || self.file.clone().close());
            self.memory.iter().for_each(InMemory::expect_store);
        }
        let stored = self.memory.as_ref().map_or(Ok(()), |memory| memory.store_if_expected(py));
        closed.and(stored)
    }

    /// What is left to do when the last object of the file goes. The engine closes it afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        match (&self.memory, self.is_open()) {
            (Some(_), _) => self.close(py),
            (None, true) => self.flush(py),
            (None, false) => Ok(()),
        }
    }

    /// Tells of an exception that no code waits for.
    fn report(&self, py: Python<'_>, why: PyErr) {
        let path = self.file.path().map(|path| path.as_os_str().into_pyobject(py));
        let path = path.and_then(Result::ok).map(Bound::into_any);
        why.write_unraisable(py, path.as_ref());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.file.is_writable() || !self.process.is_this() {
            return;
        }
        Python::try_attach(|py| {
            // An object may go while an exception is on its way.
            let raised = PyErr::take(py);
            if let Err(why) = self.finish(py) {
                self.report(py, why);
            }
            raised.into_iter().for_each(|raised| raised.restore(py));
        });
    }
}

fn writable() -> Vec<Arc<Shared>> {
    let all = WRITABLE.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter_map(Weak::upgrade).filter(|shared| shared.is_open() && shared.process.is_this()).collect()
}

/// Writes what is still open when the interpreter ends: a thread that goes on may hold it until the process is gone.
#[pyfunction]
pub(crate) fn at_exit(py: Python<'_>) {
    for shared in writable() {
        if let Err(why) = shared.flush(py) {
            shared.report(py, why);
        }
    }
}

/// Closes what no object closed, once the interpreter is gone.
extern "C" fn after_exit() {
    for shared in writable() {
        let _held = fork::hold();
        if let Err(why) = shared.file.clone().close() {
            let path = shared.file.path().unwrap_or(std::path::Path::new("a file in memory"));
            eprintln!("hyperslab: {}: {why}", path.display());
        }
        // Python objects that it holds cannot be released any more.
        mem::forget(shared);
    }
}

/// Has both called.
pub(crate) fn watch_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.import("atexit")?.call_method1("register", (module.getattr("at_exit")?,))?;
    #[expect(unsafe_code, reason = "Python calls nothing else once all its threads are gone")]
    // SAFETY: the function is there as long as the process, as extension modules are never unloaded, and does not call Python.
    unsafe {
        ffi::Py_AtExit(Some(after_exit))
    };
    Ok(())
}
