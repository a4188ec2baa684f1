//! Coordinates of points that come from Python.

use hyperslab::space::UNLIMITED;
use numpy::{PyArrayDescrMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Array, is_aligned};
use crate::list;
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
    if is_unsigned {
        let numbers = array.call_method1("astype", ("u8",))?;
        return Ok(numbers.extract::<PyReadonlyArray2<'_, u64>>()?.as_array().iter().copied().collect());
    }
    let numbers: PyReadonlyArray2<'_, i64> = match rows(array) {
        Some(numbers) => numbers,
        None => array.call_method1("astype", ("i8",))?.extract()?,
    };
    let (mut flat, mut all) = (list::room(array.len())?, 0);
    let mut add = |number: &i64| {
        all |= *number;
        number.cast_unsigned()
    };
    let numbers = numbers.as_array();
    match numbers.as_slice() {
        // Copied as a whole, where an iterator of any order goes number by number.
        Some(numbers) => flat.extend(numbers.iter().map(&mut add)),
        None => flat.extend(numbers.iter().map(&mut add)),
    }
    match flat.iter().map(|number: &u64| number.cast_signed()).find(|number| all < 0 && *number < 0) {
        Some(number) => Err(PyValueError::new_err(format!("coords: {number} is not between 0 and {UNLIMITED}"))),
        None => Ok(flat),
    }
}

/// An array of 64-bit integers of this machine whose rows lie one after the other.
fn rows<'py>(array: &Array<'py>) -> Option<PyReadonlyArray2<'py, i64>> {
    if is_aligned(array) && array.is_c_contiguous() { array.extract().ok() } else { None }
}

/// The least and the largest number of each column of a table of integers, if it is one whose numbers lie one after the other. NumPy takes ten times as long.
pub(crate) fn extremes(given: &Bound<'_, PyAny>) -> Option<Vec<(i64, i64)>> {
    let numbers = rows(given.cast::<numpy::PyUntypedArray>().ok()?)?;
    let numbers = numbers.as_array();
    let mut all = numbers.as_slice()?.chunks_exact(numbers.ncols().max(1));
    let mut extremes: Vec<(i64, i64)> = all.next()?.iter().map(|number| (*number, *number)).collect();
    for row in all {
        for ((low, high), number) in extremes.iter_mut().zip(row) {
            (*low, *high) = ((*low).min(*number), (*high).max(*number));
        }
    }
    Some(extremes)
}

fn check_width(given: usize, rank: usize) -> PyResult<()> {
    if given == rank {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("a point with {given} coordinates in a space of {rank} dimensions")))
}
