//! NumPy arrays: made, and seen as the bytes that they hold. The only `unsafe` code of this crate is here and in `objects`.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::numpy_type::Dtype;

pub(crate) type Array<'py> = Bound<'py, PyUntypedArray>;

/// `numpy.zeros(shape, dtype)`. Zeros, since memory that nobody wrote must not be seen; large arrays get theirs from the system for nothing.
pub(crate) fn zeros<'py>(shape: &[usize], dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    let py = dtype.py();
    let made = py.import("numpy")?.call_method1("zeros", (PyTuple::new(py, shape)?, dtype))?;
    Ok(made.cast_into()?)
}

/// An array of no dimensions as its value; others as they are.
pub(crate) fn unwrapped<'py>(array: Array<'py>) -> PyResult<Bound<'py, PyAny>> {
    if array.ndim() == 0 { array.get_item(PyTuple::empty(array.py())) } else { Ok(array.into_any()) }
}

/// Fails for an array that cannot be written row by row.
pub(crate) fn check_writable(array: &Array<'_>) -> PyResult<()> {
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("Array must be C-contiguous"));
    }
    if !array.getattr("flags")?.getattr("writeable")?.extract::<bool>()? {
        return Err(PyValueError::new_err("output array is read-only"));
    }
    Ok(())
}

/// All bytes of an array.
#[expect(unsafe_code, reason = "values are read straight into the array instead of being copied there")]
pub(crate) fn bytes<'a>(array: &'a mut Array<'_>) -> PyResult<&'a mut [u8]> {
    check_writable(array)?;
    let length = array.len() * array.dtype().itemsize();
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the array is contiguous, so its `length` bytes follow each other, and it is held as long as the slice is. It was made by
    // `zeros` or by the user, and so was written before. An array that the user gave may be touched by another thread meanwhile, which
    // is as wrong here as it is with any function that fills an array.
    Ok(unsafe { std::slice::from_raw_parts_mut((*array.as_array_ptr()).fields.data.cast(), length) })
}

/// All bytes of an array that is only looked at.
#[expect(unsafe_code, reason = "values are written straight from the array instead of being copied first")]
pub(crate) fn contents<'a>(array: &'a Array<'_>) -> PyResult<&'a [u8]> {
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("Array must be C-contiguous"));
    }
    let length = array.len() * array.dtype().itemsize();
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: as in `bytes`. Arrays that NumPy left unwritten have been written by whoever gives them away.
    Ok(unsafe { std::slice::from_raw_parts((*array.as_array_ptr()).fields.data.cast(), length) })
}
