//! Errors of the engine as the exceptions that users of h5py expect.

use hyperslab::{Error, driver, dtype, space};
use pyo3::exceptions::{PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An error as an exception: a name or a link that leads nowhere is a `KeyError`, anything about the file or its bytes an `OSError`.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        Error::Missing(name) => missing(&name),
        error @ Error::Link { .. } => PyKeyError::new_err(format!("Unable to open object ({error})")),
        error @ Error::Part { .. } => {
            let text = error.to_string();
            let Error::Part { why, .. } = error else { return PyOSError::new_err(text) };
            Python::attach(|py| PyErr::from_type(exception(*why).get_type(py), text))
        }
        Error::Driver(error) => of_driver(error),
        Error::Space(error) => of_space(error),
        error @ Error::Kind { .. } => PyTypeError::new_err(error.to_string()),
        error @ (Error::Exists(_) | Error::Deleted(_) | Error::Create(_) | Error::Change(_) | Error::Value(_)) => {
            PyValueError::new_err(error.to_string())
        }
        error @ Error::Unsupported(_) => PyNotImplementedError::new_err(error.to_string()),
        error => PyOSError::new_err(error.to_string()),
    }
}

/// A name that leads nowhere.
pub(crate) fn missing(name: &str) -> PyErr {
    let name = name.rsplit('/').next().unwrap_or(name);
    PyKeyError::new_err(format!("Unable to open object (object '{name}' doesn't exist)"))
}

/// Storage that fails. With the number of the error Python chooses the class, `FileNotFoundError` for one.
fn of_driver(error: driver::Error) -> PyErr {
    let number = match &error.why {
        driver::Why::Io(why) => why.raw_os_error(),
        _ => None,
    };
    match number {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// A selection that cannot be.
pub(crate) fn of_space(error: space::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A datatype that cannot be.
pub(crate) fn of_type(error: dtype::Error) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

/// More than memory holds.
pub(crate) fn too_large(bytes: u64) -> PyErr {
    PyMemoryError::new_err(format!("no memory for {bytes} bytes"))
}

/// What was done with a file that is closed already.
pub(crate) fn closed() -> PyErr {
    PyValueError::new_err("the file of this object is closed")
}
