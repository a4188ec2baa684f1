//! Errors of the engine as the exceptions that users of h5py expect.

use std::path::Path;

use hyperslab::dtype::Datatype;
use hyperslab::{Error, dtype, space};
use pyo3::exceptions::{
    PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

pyo3::create_exception!(hyperslab, ExtentError, PyValueError, "A selection of another extent than the dataset has.");
pyo3::create_exception!(hyperslab, ExistsError, PyValueError, "A name that another object has already.");

/// An error as an exception: a name or a link that leads nowhere is a `KeyError`, anything about the file or its bytes an `OSError`.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    if error.is_out_of_memory() {
        return PyMemoryError::new_err(text);
    }
    match error {
        Error::Missing(name) => missing(&name),
        Error::Link { .. } => PyKeyError::new_err(format!("Unable to open object ({text})")),
        Error::Part { why, .. } => part(exception(*why), text),
        Error::Space(error) => of_space(error),
        Error::Kind { .. } => PyTypeError::new_err(text),
        Error::Extent { .. } => ExtentError::new_err(text),
        Error::Exists(_) => ExistsError::new_err(text),
        Error::Deleted(_) | Error::Create(_) | Error::Change(_) | Error::Value(_) => PyValueError::new_err(text),
        Error::Unsupported(_) => PyNotImplementedError::new_err(text),
        error => match error.raw_os_error() {
            // With the number of the error Python chooses the class: `FileNotFoundError`, `BlockingIOError`, …
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
    }
}

/// As [`exception`], of a file that was to be opened: what the system refused names it.
pub(crate) fn not_opened(error: Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string(), path.as_os_str().to_owned())),
        None => exception(error),
    }
}

/// The exception of one part of several: of the same class and with the same number, but with the text of the whole.
fn part(why: PyErr, text: String) -> PyErr {
    Python::attach(|py| {
        let number = why.value(py).getattr("errno").and_then(|number| number.extract::<i32>());
        match number {
            Ok(number) => PyOSError::new_err((number, text)),
            Err(_) => PyErr::from_type(why.get_type(py), text),
        }
    })
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
    match error {
        dtype::Error::Memory(why) => PyMemoryError::new_err(why.to_string()),
        error => PyTypeError::new_err(error.to_string()),
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
