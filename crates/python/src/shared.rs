//! An open file as all its Python objects hold it: whether it can be used, and what happens when the last of them goes.
//!
//! ```text
//!  last object goes ──► flush, or close if it is in memory or in a file object ──► engine closes the file
//!  interpreter ends ──► `at_exit`: flush what is open, close file objects ──► `after_exit`: close what is still open
//! ```
//!
//! Both functions wait for threads that close files (`closing`). A thread that closes a file while another does so waits until it is closed.
//!
//! What fails there goes to `sys.unraisablehook`. A forked process does none of it with what its parent opened.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyperslab::File;
use hyperslab::driver::cores::fork::{self, Process};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::closing::{self, Closing};
use crate::engine::{detached, engine};
use crate::error::{closed, in_object, torn};
use crate::file_object::FileObject;
use crate::reentrant_lock::ReentrantLock;

/// A file that all its objects hold.
pub(crate) struct Shared {
    pub(crate) file: File,
    open: AtomicBool,
    backing: Backing,
    /// Held while the file is closed.
    lock: ReentrantLock,
    /// The process that opened it.
    process: Process,
}

/// Where the bytes of a file are.
pub(crate) enum Backing {
    /// On disk; what it was opened with, if a user opened it: settings and sharing.
    Path(Option<Py<PyTuple>>),
    /// In memory, under the name of this path if there is one.
    Memory(Option<PathBuf>),
    /// In a file object, which is read and written under the interpreter's lock.
    Object(Arc<FileObject>),
}

/// Files that may be changed, open or not.
static WRITABLE: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

impl Shared {
    pub(crate) fn new(file: File, backing: Backing) -> Arc<Shared> {
        let is_writable = file.is_writable();
        let (open, lock, process) = (AtomicBool::new(true), ReentrantLock::default(), Process::this());
        let shared = Arc::new(Shared { file, open, backing, lock, process });
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
            () if self.is_in_object() => Err(in_object()),
            () => Ok(&self.file),
        }
    }

    /// Looks up what the engine has in memory. A thread that changes a file object waits for the interpreter's lock while it has the engine's locks, so
    /// this waits for those without the interpreter's.
    pub(crate) fn look<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        match self.backing {
            Backing::Object(_) => detached(py, work),
            Backing::Path(_) | Backing::Memory(_) => {
                let _held = fork::hold();
                Ok(work())
            }
        }
    }

    /// What a file on disk was opened with.
    pub(crate) fn opened_with(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        match &self.backing {
            Backing::Path(Some(given)) => Some(given.clone_ref(py)),
            Backing::Path(None) => (py.None(), py.None()).into_pyobject(py).ok().map(Bound::unbind),
            Backing::Memory(_) | Backing::Object(_) => None,
        }
    }

    /// Whether this thread is in a method of the file object.
    fn is_in_object(&self) -> bool {
        matches!(&self.backing, Backing::Object(object) if object.is_at_work())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// The path that it was opened with; none for a file object.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.path().or(match &self.backing {
            Backing::Memory(path) => path.as_deref(),
            Backing::Path(_) | Backing::Object(_) => None,
        })
    }

    /// Whether objects of the file can be used.
    pub(crate) fn is_valid(&self) -> bool {
        self.file().is_ok()
    }

    /// Writes everything that was changed so far.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.file()?;
        if file.is_writable() { engine(py, || file.flush()) } else { Ok(()) }
    }

    /// Closes the file; returns when it is closed, also if another thread does it.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.process.is_this() {
            self.open.store(false, Ordering::Relaxed);
            return Ok(());
        }
        if self.is_in_object() {
            return Err(in_object());
        }
        let _closing = Closing::file();
        let _locked = self.lock.lock(py)?;
        if !self.open.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let closed = last(py, || self.file.clone().close());
        if let Backing::Object(object) = &self.backing {
            object.release();
        }
        closed
    }

    /// What is left to do when the last object of the file goes. The engine closes it afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        match (&self.backing, self.is_open()) {
            (_, false) => Ok(()),
            (Backing::Memory(_) | Backing::Object(_), true) => self.close(py),
            (Backing::Path(_), true) => last(py, || self.file.flush()),
        }
    }

    /// Tells of an exception that no code waits for.
    fn report(&self, py: Python<'_>, why: PyErr) {
        let path = self.path().map(|path| path.as_os_str().into_pyobject(py));
        let path = path.and_then(Result::ok).map(Bound::into_any);
        why.write_unraisable(py, path.as_ref());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The end of a file object waits for threads that read it, which need the interpreter's lock.
        let is_object = matches!(self.backing, Backing::Object(_));
        if !(self.file.is_writable() || is_object) || !self.process.is_this() {
            return;
        }
        Python::try_attach(|py| {
            // An object may go while an exception is on its way.
            let raised = PyErr::take(py);
            let _closing = Closing::file();
            if let Err(why) = self.finish(py) {
                self.report(py, why);
            }
            raised.into_iter().for_each(|raised| raised.restore(py));
        });
    }
}

/// The last work of the engine for a file, which the process does not end before.
fn last(py: Python<'_>, work: impl FnOnce() -> hyperslab::Result<()> + Send) -> PyResult<()> {
    let closing = Closing::engine();
    engine(py, move || {
        // Dropped before the thread waits for the interpreter's lock, which it may never get again.
        let _closing = closing;
        work()
    })
}

fn writable() -> Vec<Arc<Shared>> {
    let all = WRITABLE.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter_map(Weak::upgrade).filter(|shared| shared.is_open() && shared.process.is_this()).collect()
}

/// Writes what is still open when the interpreter ends: a thread that goes on may hold it until the process is gone. Waits for threads that
/// close files.
#[pyfunction]
pub(crate) fn at_exit(py: Python<'_>) -> PyResult<()> {
    for shared in writable() {
        // Nothing can be written to a file object once the interpreter is gone.
        let done = if matches!(shared.backing, Backing::Object(_)) { shared.close(py) } else { shared.flush(py) };
        match done {
            Err(why) if shared.is_open() => shared.report(py, why),
            // A thread that has closed it meanwhile tells what went wrong.
            _ => {}
        }
    }
    closing::wait_for_files(py)
}

/// Closes what no object closed, once the interpreter is gone.
extern "C" fn after_exit() {
    closing::wait_for_engines();
    for shared in writable() {
        let _held = fork::hold();
        if let Err(why) = shared.file.clone().close() {
            let path = shared.path().unwrap_or(Path::new("a file in memory"));
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
