//! Sizes, indices and rows of numbers that come from Python or go there.

use hyperslab::space::UNLIMITED;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error;

/// One number, or any sequence of them. `None` stands for no limit.
pub(crate) fn numbers(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u64>> {
    match number(given, what) {
        Ok(single) if !given.is_none() => return Ok(vec![single]),
        Err(why) if !why.is_instance_of::<PyTypeError>(given.py()) => return Err(why),
        _ => {}
    }
    let wrong = || PyTypeError::new_err(format!("{what} must be an integer or a sequence of integers"));
    let items = given.try_iter().map_err(|_| wrong())?;
    items.map(|item| number(&item?, what)).collect()
}

/// One number. `None` stands for no limit.
pub(crate) fn number(given: &Bound<'_, PyAny>, what: &str) -> PyResult<u64> {
    if given.is_none() {
        return Ok(UNLIMITED);
    }
    given.extract::<u64>().map_err(|why: PyErr| {
        if why.is_instance_of::<PyOverflowError>(given.py()) {
            return PyValueError::new_err(format!("{what}: {given} is not between 0 and 2**64 - 1"));
        }
        why
    })
}

/// A tuple of integers.
pub(crate) fn tuple<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, numbers)
}

/// A tuple of integers, with `None` where there is no limit.
pub(crate) fn limits<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, numbers.iter().map(|&number| (number != UNLIMITED).then_some(number)))
}

/// Collects rows of numbers; an exception instead of an abort where memory ends.
pub(crate) struct Rows(Vec<u64>);

impl Rows {
    /// Room for `rows` rows of `width` numbers.
    pub(crate) fn with_room(rows: u64, width: usize) -> PyResult<Rows> {
        let mut room = Vec::new();
        let count = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(width));
        let fits = count.is_some_and(|count| room.try_reserve_exact(count).is_ok());
        let bytes = rows.saturating_mul(8 * width as u64);
        if fits { Ok(Rows(room)) } else { Err(error::too_large(bytes)) }
    }

    /// Adds numbers to the end.
    pub(crate) fn extend(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.0.extend(numbers);
    }

    /// An array of unsigned 64-bit integers; the shape says how the numbers divide.
    pub(crate) fn into_array<'py>(self, py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0.into_pyarray(py).reshape(shape)?.into_any())
    }
}
