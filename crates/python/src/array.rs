//! NumPy arrays: made, and seen as the bytes that they hold. The only `unsafe` code of this crate is here, in `objects` and in `own_texts`.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::num::TryFromIntError;
use std::ptr;

use numpy::npyffi::flags::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ENSUREARRAY, NPY_ARRAY_FORCECAST, NPY_ARRAY_WRITEABLE,
};
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyWeakrefReference};

use crate::engine::detached;
use crate::error::too_large;
use crate::numpy_type::Dtype;

pub(crate) type Array<'py> = Bound<'py, PyUntypedArray>;

/// `numpy.zeros(shape, dtype)`. Zeros, since memory that was never written must not be seen; large arrays get theirs from the system for nothing.
#[expect(
    unsafe_code,
    reason = "each sequence of variable length that is read is an array, and to call `numpy.zeros` by its name for each takes most of the time"
)]
pub(crate) fn zeros<'py>(shape: &[usize], dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    let sizes = shape.iter().map(|&size| npy_intp::try_from(size));
    let mut sizes = sizes.collect::<Result<Vec<npy_intp>, _>>().map_err(too_many)?;
    let rank = c_int::try_from(sizes.len()).map_err(too_many)?;
    let (py, owned) = (dtype.py(), dtype.clone().into_dtype_ptr());
    // SAFETY: there are `rank` sizes, which NumPy reads and checks. It takes over the reference to the dtype, and returns an array that the
    // caller owns, or null with an exception set.
    let made = unsafe {
        Bound::from_owned_ptr_or_err(py, PY_ARRAY_API.PyArray_Zeros(py, rank, sizes.as_mut_ptr(), owned, 0))?
    };
    Ok(made.cast_into()?)
}

/// `numpy.empty(shape, dtype)`, for callers that write all of it before any code of Python sees it. Memory that NumPy has at hand is not cleared.
#[expect(
    unsafe_code,
    reason = "each sequence of variable length that is read is an array: to clear them first takes a third of the time"
)]
fn empty<'py>(shape: &[usize], dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    let sizes = shape.iter().map(|&size| npy_intp::try_from(size));
    let mut sizes = sizes.collect::<Result<Vec<npy_intp>, _>>().map_err(too_many)?;
    let rank = c_int::try_from(sizes.len()).map_err(too_many)?;
    let (py, owned) = (dtype.py(), dtype.clone().into_dtype_ptr());
    // SAFETY: as in `zeros`.
    let made = unsafe {
        Bound::from_owned_ptr_or_err(py, PY_ARRAY_API.PyArray_Empty(py, rank, sizes.as_mut_ptr(), owned, 0))?
    };
    Ok(made.cast_into()?)
}

/// A new array of one dimension with the elements that these bytes are. The dtype has no Python objects.
#[expect(unsafe_code, reason = "as with `empty`")]
pub(crate) fn with_contents<'py>(contents: &[u8], dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    let size = dtype.itemsize();
    if size == 0 || !contents.len().is_multiple_of(size) || dtype.has_object() {
        return Err(PyValueError::new_err(format!("{} bytes of {dtype:?}", contents.len())));
    }
    let made = empty(&[contents.len() / size], dtype)?;
    // SAFETY: the array was just made, is contiguous, and has as many bytes as there are contents, which lie elsewhere.
    unsafe { ptr::copy_nonoverlapping(contents.as_ptr(), (*made.as_array_ptr()).fields.data.cast(), contents.len()) };
    Ok(made)
}

/// A new array of signed 64-bit integers. `fill` writes all of them, without the interpreter's lock, and says whether it did.
#[expect(
    unsafe_code,
    reason = "as with `empty`: lists of coordinates are ten times as large as the values that they are of"
)]
pub(crate) fn of_numbers<'py>(
    py: Python<'py>,
    shape: [usize; 2],
    fill: impl FnOnce(&mut [MaybeUninit<u64>]) -> bool + Send,
) -> PyResult<Array<'py>> {
    let made = empty(&shape, &numpy::dtype::<i64>(py))?;
    let places = match made.len() {
        0 => &mut [],
        // SAFETY: the array was just made, is contiguous and aligned, and no other code can reach it. Its numbers need not be written yet.
        count => unsafe { std::slice::from_raw_parts_mut((*made.as_array_ptr()).fields.data.cast(), count) },
    };
    match detached(py, || fill(places))? {
        true => Ok(made),
        // The array goes before any code sees it.
        false => Err(PyValueError::new_err(format!("an array of shape {shape:?} was not filled"))),
    }
}

fn too_many(_: TryFromIntError) -> PyErr {
    PyValueError::new_err("Maximum allowed dimension exceeded")
}

/// `numpy.asarray(values, dtype, order="C")`: the array that is given, if it is as wanted already.
#[expect(
    unsafe_code,
    reason = "each sequence of variable length that is written passes here, and to call `numpy.asarray` by its name for each is slow"
)]
pub(crate) fn asarray<'py>(values: &Bound<'py, PyAny>, dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    const WANTED: c_int = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSUREARRAY;
    let (py, owned) = (values.py(), dtype.clone().into_dtype_ptr());
    // SAFETY: the values are held. NumPy takes over the reference to the dtype, and returns an array that the caller owns, or null with
    // an exception set.
    let made = unsafe {
        let made = PY_ARRAY_API.PyArray_FromAny(py, values.as_ptr(), owned, 0, 0, WANTED, ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, made)?
    };
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
    if !is_writable(array) {
        return Err(PyValueError::new_err("output array is read-only"));
    }
    Ok(())
}

/// What NumPy itself asks; the attribute `flags` of a subclass may run any code.
#[expect(unsafe_code, reason = "there is no other way that runs no code of Python")]
fn is_writable(array: &Array<'_>) -> bool {
    // SAFETY: the array is held, and its flags are read under the interpreter's lock.
    unsafe { (*array.as_array_ptr()).fields.flags & NPY_ARRAY_WRITEABLE != 0 }
}

/// Whether each element lies where its type wants it: elements of a view into structures or bytes may not.
#[expect(unsafe_code, reason = "there is no other way that runs no code of Python")]
pub(crate) fn is_aligned(array: &Array<'_>) -> bool {
    // SAFETY: as in `is_writable`.
    unsafe { (*array.as_array_ptr()).fields.flags & NPY_ARRAY_ALIGNED != 0 }
}

/// Arrays whose bytes NumPy does not move.
pub(crate) struct Pinned<'py>(
    #[expect(dead_code, reason = "they need only be there")] Vec<Bound<'py, PyWeakrefReference>>,
);

/// Keeps the bytes of an array where they are while the engine works on them without the interpreter's lock: NumPy refuses to resize an array that
/// has a weak reference, even with `refcheck=False`. The bytes of a view belong to another array, so all arrays from the view to the owner get one.
pub(crate) fn pin<'py>(array: &Array<'py>) -> PyResult<Pinned<'py>> {
    let mut pinned = vec![PyWeakrefReference::new(array)?];
    let mut next = base(array);
    while let Some(array) = next {
        pinned.push(PyWeakrefReference::new(&array)?);
        next = base(&array);
    }
    Ok(Pinned(pinned))
}

/// The array that a view was made of. The attribute `base` of a subclass may run any code.
#[expect(unsafe_code, reason = "there is no other way that runs no code of Python")]
fn base<'py>(array: &Array<'py>) -> Option<Array<'py>> {
    // SAFETY: the array is held, and its base, which it holds, is read and held under the interpreter's lock.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(array.py(), (*array.as_array_ptr()).fields.base) };
    base?.cast_into().ok()
}

/// A copy of an array that no other code can reach. Its bytes stay as they are while code of Python runs, which may do with `array` what it likes.
pub(crate) fn private<'py>(array: &Array<'py>) -> PyResult<Array<'py>> {
    let options = PyDict::new(array.py());
    options.set_item("copy", true)?;
    options.set_item("order", "C")?;
    options.set_item("subok", false)?;
    Ok(array.py().import("numpy")?.call_method("array", (array,), Some(&options))?.cast_into()?)
}

/// All bytes of an array. No code of Python may run while they are used, unless the array is out of its reach; without the interpreter's lock,
/// the array must be [pinned](pin).
#[expect(unsafe_code, reason = "values are read straight into the array instead of being copied there")]
pub(crate) fn bytes<'a>(array: &'a mut Array<'_>) -> PyResult<&'a mut [u8]> {
    check_writable(array)?;
    let length = array.len() * array.dtype().itemsize();
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the array is contiguous, so its `length` bytes follow each other, and it is held as long as the slice is. It was made by
    // `zeros` or by the user, and so was written before. Callers see to it that its bytes are not moved meanwhile. An array that the user gave may
    // be written by another thread, which is as wrong here as it is with any function that fills an array.
    Ok(unsafe { std::slice::from_raw_parts_mut((*array.as_array_ptr()).fields.data.cast(), length) })
}

/// All bytes of an array that is only looked at; as with [`bytes`].
#[expect(unsafe_code, reason = "values are written straight from the array instead of being copied first")]
pub(crate) fn contents<'a>(array: &'a Array<'_>) -> PyResult<&'a [u8]> {
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("Array must be C-contiguous"));
    }
    let length = array.len() * array.dtype().itemsize();
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: as in `bytes`. Arrays that NumPy left unwritten have been written before they are given away.
    Ok(unsafe { std::slice::from_raw_parts((*array.as_array_ptr()).fields.data.cast(), length) })
}

/// Room for `count` values of `size` bytes.
pub(crate) fn room(count: u64, size: usize) -> PyResult<Vec<u8>> {
    let bytes = count.saturating_mul(size as u64);
    let mut room = Vec::new();
    let length = usize::try_from(bytes).ok().filter(|&length| room.try_reserve_exact(length).is_ok());
    room.resize(length.ok_or_else(|| too_large(bytes))?, 0);
    Ok(room)
}
