//! Values as Python objects: what the engine cannot write into an array itself.

use hyperslab::dtype::{Arena, Padding};
use numpy::PyArrayDescrMethods;
use pyo3::exceptions::PyOSError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array;
use crate::list;
use crate::memory::{Make, Memory, Step};
use crate::reference;

impl Memory {
    /// Makes the elements of `to` of converted values. These are the bytes of an array that no code of Python can reach: objects that go may run any.
    pub(crate) fn finish(&self, py: Python<'_>, from: &[u8], arena: &Arena, to: &mut [u8]) -> PyResult<()> {
        let Some(steps) = &self.steps else {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            return Ok(());
        };
        let values = from.chunks_exact(self.datatype.size()).zip(to.chunks_exact_mut(self.itemsize.max(1)));
        for (from, to) in values {
            for step in steps {
                step.take(py, from, arena, to)?;
            }
        }
        Ok(())
    }
}

impl Step {
    fn take(&self, py: Python<'_>, from: &[u8], arena: &Arena, to: &mut [u8]) -> PyResult<()> {
        let from = from.get(self.from..).unwrap_or_default();
        let to = to.get_mut(self.to..).unwrap_or_default();
        match &self.make {
            Make::Copy(length) => to.iter_mut().zip(from).take(*length).for_each(|(to, from)| *to = *from),
            Make::Text(length) => {
                let text = text(arena, from)?;
                let padded = text.iter().copied().chain(std::iter::repeat(0));
                to.iter_mut().zip(padded).take(*length).for_each(|(to, from)| *to = from);
            }
            Make::Truth => {
                to.iter_mut().zip(from).take(1).for_each(|(to, from)| *to = u8::from(*from != 0));
            }
            Make::Bytes(_) => put(to, bytes_object(py, text(arena, from)?)?),
            Make::Array(element, dtype) => {
                let size = element.datatype.size();
                let values = sequence(arena, from, size)?;
                let dtype = dtype.bind(py);
                if element.steps.is_none() && size == dtype.itemsize() && size > 0 {
                    put(to, array::with_contents(values, dtype)?.into_any().unbind());
                    return Ok(());
                }
                let mut made = array::zeros(&[values.len() / size.max(1)], dtype)?;
                debug_assert_eq!(dtype.itemsize(), element.itemsize);
                element.finish(py, values, arena, array::bytes(&mut made)?)?;
                put(to, made.into_any().unbind());
            }
            Make::Reference(datatype) => {
                let stored = match datatype.encoded_reference() {
                    Some(_) => sequence(arena, from, 1)?,
                    None => from.get(..datatype.size()).unwrap_or_default(),
                };
                put(to, reference::object(py, stored, datatype)?);
            }
            Make::Repeat(count, element) => {
                let parts = |size: usize, length: usize| count.saturating_mul(size).min(length);
                let (read, written) = (parts(element.datatype.size(), from.len()), parts(element.itemsize, to.len()));
                let (from, to) = (from.get(..read).unwrap_or_default(), to.get_mut(..written).unwrap_or_default());
                element.finish(py, from, arena, to)?;
            }
        }
        Ok(())
    }
}

fn sequence<'a>(arena: &'a Arena, from: &[u8], size: usize) -> PyResult<&'a [u8]> {
    let reference = from.get(..Arena::REFERENCE).unwrap_or_default();
    let found = arena.get(reference, size).map_err(|why| PyOSError::new_err(why.to_string()))?;
    Ok(found.unwrap_or_default())
}

/// A variable-length string ends at its first NUL, as it does in C.
fn text<'a>(arena: &'a Arena, from: &[u8]) -> PyResult<&'a [u8]> {
    Ok(Padding::NullTerm.strip(sequence(arena, from, 1)?))
}

/// A `bytes`; an exception where memory ends.
fn bytes_object(py: Python<'_>, text: &[u8]) -> PyResult<Py<PyAny>> {
    let made = PyBytes::new_with(py, text.len(), |bytes| {
        bytes.copy_from_slice(text);
        Ok(())
    })?;
    Ok(made.into_any().unbind())
}

/// The objects of all elements of an array, each held; nothing for an element that has none. Runs no code of Python.
pub(crate) fn held<'py>(py: Python<'py>, elements: &[u8]) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
    let elements = elements.chunks_exact(size_of::<*mut ffi::PyObject>());
    let mut held = list::room(elements.len())?;
    held.extend(elements.map(|element| get(py, element)));
    Ok(held)
}

/// Puts an object into an array, in the place of the one that is there.
#[expect(
    unsafe_code,
    reason = "NumPy has no other way to fill objects within structures, and any other is many times slower"
)]
fn put(place: &mut [u8], object: Py<PyAny>) {
    let Some(place) = place.first_chunk_mut::<{ size_of::<*mut ffi::PyObject>() }>() else { return };
    let place = place.as_mut_ptr().cast::<*mut ffi::PyObject>();
    // SAFETY: `Memory` leads here only for elements of kind "O" of an array that is held, which NumPy keeps as owned pointers or null.
    // They may lie at any address within a structure. The old one is released after the new one is in its place; code that this
    // runs cannot reach the array.
    unsafe {
        let old = place.read_unaligned();
        place.write_unaligned(object.into_ptr());
        ffi::Py_XDECREF(old);
    }
}

/// The object that an array has at a place, if it has any.
#[expect(
    unsafe_code,
    reason = "NumPy has no other way to see objects within structures, and any other is many times slower"
)]
pub(crate) fn get<'py>(py: Python<'py>, place: &[u8]) -> Option<Bound<'py, PyAny>> {
    let place = place.first_chunk::<{ size_of::<*mut ffi::PyObject>() }>()?;
    let place = place.as_ptr().cast::<*mut ffi::PyObject>();
    // SAFETY: as in `put`. The array owns the object, and no other code can reach it; what is given away is a reference of its own.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, place.read_unaligned()) }
}
