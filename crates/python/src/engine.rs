//! Calls into the engine: without the interpreter's lock, held off from forks, and with errors and panics as exceptions.
//!
//! Every call that may take a lock of the engine goes through here or through `Shared::look`: a fork of the process then finds no lock of ours taken
//! (`hyperslab::driver::cores::fork`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hyperslab::driver::cores::fork;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::exception;

/// Does `work` of the engine while other threads of Python run.
pub(crate) fn engine<T: Send>(py: Python<'_>, work: impl FnOnce() -> hyperslab::Result<T> + Send) -> PyResult<T> {
    detached(py, work)?.map_err(exception)
}

/// As [`engine`], for any result.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // What a panic leaves behind is behind locks that do not poison; the engine refuses to write on if a change was interrupted.
    let done = py.detach(|| {
        let _held = fork::hold();
        catch_unwind(AssertUnwindSafe(work))
    });
    done.map_err(|why| panicked(&*why))
}

/// A panic is a fault of this package. It must not pass `except Exception`, as pyo3's own exception for it does.
fn panicked(why: &(dyn Any + Send)) -> PyErr {
    let text = why.downcast_ref::<&str>().copied().or_else(|| why.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!("internal error of hyperslab: {}", text.unwrap_or("a panic without a message")))
}
