//! NumPy's own strings of variable length, `StringDType`: their bytes, copied out of an array in one go.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use numpy::npyffi::objects::{npy_packed_static_string, npy_static_string, npy_string_allocator};
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::array::{Array, contents};
use crate::error::too_large;
use crate::list::room;

type Load =
    unsafe extern "C" fn(*mut npy_string_allocator, *const npy_packed_static_string, *mut npy_static_string) -> c_int;
type Acquire = unsafe extern "C" fn(*const c_void) -> *mut npy_string_allocator;
type Release = unsafe extern "C" fn(*mut npy_string_allocator);

/// Where NumPy's table of functions has those that are needed here, from NumPy 2.0 on, which brought `StringDType`.
const LOAD: usize = 313;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

/// Strings one after the other.
pub(crate) struct OwnTexts {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl OwnTexts {
    /// The strings of an array of `StringDType`; nothing if one of them is missing.
    pub(crate) fn new(array: &Array<'_>) -> PyResult<Option<OwnTexts>> {
        let (dtype, elements) = (array.dtype(), contents(array)?);
        let (mut ends, mut bytes) = (room(array.len())?, Vec::new());
        let strings = Strings::lock(array)?;
        for element in elements.chunks_exact(dtype.itemsize().max(1)) {
            // No code of Python runs from the look at a string to its copy.
            let Some(text) = strings.load(element) else { return Ok(None) };
            bytes.try_reserve(text.len()).map_err(|_| too_large(text.len() as u64))?;
            bytes.extend_from_slice(text);
            ends.push(bytes.len());
        }
        Ok(Some(OwnTexts { bytes, ends }))
    }

    /// Whether all are ASCII.
    pub(crate) fn is_ascii(&self) -> bool {
        self.bytes.is_ascii()
    }

    /// Each by itself.
    pub(crate) fn each(&self) -> PyResult<Vec<&[u8]>> {
        let (mut texts, mut start) = (room(self.ends.len())?, 0);
        for &end in &self.ends {
            texts.push(self.bytes.get(start..end).unwrap_or_default());
            start = end;
        }
        Ok(texts)
    }
}

/// The strings of an array, which no thread changes until this is dropped: NumPy waits for the allocator's lock.
struct Strings {
    allocator: *mut npy_string_allocator,
    load: Load,
    release: Release,
}

#[expect(unsafe_code, reason = "NumPy has no other way to the bytes of its strings, but one Python object each")]
impl Strings {
    fn lock(array: &Array<'_>) -> PyResult<Strings> {
        let module = array.py().import("numpy._core._multiarray_umath")?;
        let table: NonNull<*const c_void> =
            module.getattr("_ARRAY_API")?.cast::<PyCapsule>()?.pointer_checked(None)?.cast();
        // SAFETY: the capsule has NumPy's table of functions, which is there as long as the process. Its entries have these places and types in every
        // NumPy that has arrays of `StringDType`, and the array is one, so its descriptor is of the type that the function takes.
        unsafe {
            let entry = |nth: usize| table.add(nth);
            let (load, acquire, release): (Load, Acquire, Release) =
                (entry(LOAD).cast().read(), entry(ACQUIRE).cast().read(), entry(RELEASE).cast().read());
            let allocator = acquire(array.dtype().as_dtype_ptr().cast());
            Ok(Strings { allocator, load, release })
        }
    }

    /// The bytes of the string that an element of the array holds; nothing if it is missing.
    fn load<'a>(&'a self, element: &'a [u8]) -> Option<&'a [u8]> {
        let mut found = npy_static_string { size: 0, buf: ptr::null() };
        // SAFETY: the element is one of the array, whose allocator this is. What it gives is inside of the element or of the allocator, which no
        // thread changes while it is locked.
        unsafe {
            let is_there = (self.load)(self.allocator, element.as_ptr().cast(), &raw mut found) == 0;
            match (is_there, found.size) {
                (false, _) => None,
                (true, 0) => Some(&[]),
                (true, size) => Some(std::slice::from_raw_parts(found.buf.cast(), size)),
            }
        }
    }
}

impl Drop for Strings {
    #[expect(unsafe_code, reason = "a function of NumPy")]
    fn drop(&mut self) {
        // SAFETY: the allocator was acquired by `lock`, and is released once.
        unsafe { (self.release)(self.allocator) };
    }
}
