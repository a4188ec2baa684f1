//! Coordinates of points that come from Python.

use hyperslab::space::UNLIMITED;
use numpy::{PyArrayDescrMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Array;
use crate::numbers::numbers;

/// The coordinates of points with `rank` dimensions, one after the other. An array of integers is copied as a whole, anything else point by point.
pub(crate) fn points(given: &Bound<'_, PyAny>, rank: usize) -> PyResult<Vec<u64>> {
    if let Some(array) = of_integers(given)? {
        check_width(array.shape().get(1).copied().unwrap_or_default(), rank)?;
        return flat(&array);
    }
    let mut flat = Vec::new();
    for point in given.try_iter()? {
        let point = numbers(&point?, "coords")?;
        check_width(point.len(), rank)?;
        flat.extend(point);
    }
    Ok(flat)
}

/// What is given, if it is an array of integers with a row for each point.
fn of_integers<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let Ok(array) = given.cast::<numpy::PyUntypedArray>() else { return Ok(None) };
    let is_wanted = array.ndim() == 2 && matches!(array.dtype().kind(), b'i' | b'u');
    Ok(is_wanted.then(|| array.clone()))
}

/// All numbers of an array of integers, row by row.
fn flat(array: &Array<'_>) -> PyResult<Vec<u64>> {
    // 64 bits without a sign keep all numbers only if none is negative, so those of less have a sign here.
    let is_unsigned = array.dtype().kind() == b'u' && array.dtype().itemsize() == 8;
    let numbers = array.call_method1("astype", (if is_unsigned { "u8" } else { "i8" },))?;
    if is_unsigned {
        return Ok(numbers.extract::<PyReadonlyArray2<'_, u64>>()?.as_array().iter().copied().collect());
    }
    let numbers: PyReadonlyArray2<'_, i64> = numbers.extract()?;
    let index = |&number: &i64| {
        u64::try_from(number)
            .map_err(|_| PyValueError::new_err(format!("coords: {number} is not between 0 and {UNLIMITED}")))
    };
    numbers.as_array().iter().map(index).collect()
}

fn check_width(given: usize, rank: usize) -> PyResult<()> {
    if given == rank {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("a point with {given} coordinates in a space of {rank} dimensions")))
}
