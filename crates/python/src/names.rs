//! Names, which are text or bytes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A name as h5py gives it: text if it is UTF-8, else its bytes.
pub(crate) fn name<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => text.into_pyobject(py)?.into_any(),
        Err(_) => PyBytes::new(py, bytes).into_any(),
    })
}

/// The bytes of a name that was given as text or bytes.
pub(crate) fn name_bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let text = given.cast::<PyString>();
    let wrong = |_| PyTypeError::new_err(format!("A name should be string or bytes, not {}", given.get_type()));
    Ok(text.map_err(wrong)?.to_str()?.as_bytes().to_vec())
}
