//! Errors of the engine as the exceptions that users of h5py expect.

use std::path::Path;

use hyperslab::dtype::Datatype;
use hyperslab::{Error, ErrorKind, dtype, space};
use pyo3::exceptions::{
    PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

pyo3::create_exception!(hyperslab, ExtentError, PyValueError, "A selection of another extent than the dataset has.");
pyo3::create_exception!(hyperslab, ExistsError, PyValueError, "A name that another object has already.");

/// An error as an exception. Its kind chooses the class, as h5py chooses it by libhdf5's error numbers: a name or a link that leads nowhere is a `KeyError`,
/// what the caller gave and cannot be a `ValueError`, anything about the file or its bytes an `OSError`.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    of_kind(&error, text)
}

/// The exception that belongs to an error, with the text of the error that it is part of.
fn of_kind(error: &Error, text: String) -> PyErr {
    match error {
        Error::Part { why: source, .. } | Error::At { source, .. } => return of_kind(source, text),
        Error::Missing(name) => return missing(name),
        Error::Link { .. } => return PyKeyError::new_err(format!("Unable to open object ({text})")),
        Error::Unsupported(_) => return PyNotImplementedError::new_err(text),
        _ => {}
    }
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::OutOfMemory, _) => PyMemoryError::new_err(text),
        // With the number of the error Python chooses the class: `FileNotFoundError`, `BlockingIOError`, …
        (_, Some(number)) => PyOSError::new_err((number, text)),
        (ErrorKind::AlreadyExists, _) => {
            ExistsError::new_err(format!("Unable to create object (name already exists): {text}"))
        }
        (ErrorKind::ExtentMismatch, _) => ExtentError::new_err(text),
        (ErrorKind::ObjectMismatch, _) => PyTypeError::new_err(text),
        (ErrorKind::Deleted | ErrorKind::InvalidArgument | ErrorKind::InvalidValue, _) => PyValueError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// As [`exception`], of a file that was to be opened, with h5py's phrases: what the system refused names it.
pub(crate) fn not_opened(error: Error, path: &Path) -> PyErr {
    let phrase = match error.kind() {
        ErrorKind::NotHdf5 => "file signature not found",
        ErrorKind::Locked => "unable to lock file",
        _ => "unable to open file",
    };
    let text = format!("Unable to open file ({phrase}: {error})");
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => of_kind(&error, text),
    }
}

/// A name that leads nowhere.
pub(crate) fn missing(name: &str) -> PyErr {
    let name = name.rsplit('/').next().unwrap_or(name);
    PyKeyError::new_err(format!("Unable to open object (object '{name}' doesn't exist)"))
}

/// Values that cannot be converted to or from a stored type. The class is that of h5py, which converts what has variable length or references by
/// itself and leaves the rest to libhdf5.
pub(crate) fn no_conversion(stored: &Datatype, why: impl ToString) -> PyErr {
    match stored.has_vlen() || stored.has_reference() {
        true => PyTypeError::new_err(why.to_string()),
        false => PyOSError::new_err(why.to_string()),
    }
}

/// A selection that cannot be.
pub(crate) fn of_space(error: space::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A datatype that cannot be.
pub(crate) fn of_type(error: dtype::Error) -> PyErr {
    match error.kind() {
        ErrorKind::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        _ => PyTypeError::new_err(error.to_string()),
    }
}

/// More than memory holds.
pub(crate) fn too_large(bytes: u64) -> PyErr {
    PyMemoryError::new_err(format!("no memory for {bytes} bytes"))
}

/// What was done with a file that is closed already: a `ClosedError` of `_errors.py`.
pub(crate) fn closed() -> PyErr {
    const TEXT: &str = "the file of this object is closed";
    let class = |py: Python<'_>| -> PyResult<PyErr> {
        let class = py.import("hyperslab._errors")?.getattr("ClosedError")?;
        Ok(PyErr::from_value(class.call1((TEXT,))?))
    };
    Python::try_attach(|py| class(py).unwrap_or_else(|why| why)).unwrap_or_else(|| PyValueError::new_err(TEXT))
}

/// What was done in a process that was forked while other threads used the file.
pub(crate) fn torn() -> PyErr {
    PyOSError::new_err(
        "this process was forked while another thread was using files for longer than the fork could wait: open the file again here",
    )
}

/// What a method of a file object did with the file that it holds.
pub(crate) fn in_object() -> PyErr {
    PyRuntimeError::new_err("a method of a file object uses the file that the object holds, which waits for the method")
}
