//! Making files with libhdf5.

use super::{Hdf5, Id, Space, checked, done};
use anyhow::{Result, ensure};
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;

type Close = unsafe extern "C" fn(Id) -> c_int;

/// The functions in use.
pub(super) struct Functions {
    file_create: unsafe extern "C" fn(*const c_char, c_uint, Id, Id) -> Id,
    file_close: Close,
    file_flush: unsafe extern "C" fn(Id, c_int) -> c_int,
    group_create: unsafe extern "C" fn(Id, *const c_char, Id, Id, Id) -> Id,
    group_close: Close,
    dataset_create: unsafe extern "C" fn(Id, *const c_char, Id, Id, Id, Id, Id) -> Id,
    dataset_write: unsafe extern "C" fn(Id, Id, Id, Id, Id, *const c_void) -> c_int,
    dataset_close: Close,
    attribute_create: unsafe extern "C" fn(Id, *const c_char, Id, Id, Id, Id) -> Id,
    attribute_write: unsafe extern "C" fn(Id, Id, *const c_void) -> c_int,
    attribute_close: Close,
    scalar: unsafe extern "C" fn(c_int) -> Id,
    space_close: Close,
    properties: unsafe extern "C" fn(Id) -> Id,
    properties_close: Close,
    set_chunk: unsafe extern "C" fn(Id, c_int, *const u64) -> c_int,
    set_shuffle: Close,
    set_deflate: unsafe extern "C" fn(Id, c_uint) -> c_int,
    set_bounds: unsafe extern "C" fn(Id, c_int, c_int) -> c_int,
    type_copy: unsafe extern "C" fn(Id) -> Id,
    type_resize: unsafe extern "C" fn(Id, usize) -> c_int,
    type_close: Close,
    of_datasets: Id,
    of_access: Id,
    float: Id,
    double: Id,
    text: Id,
}

impl Functions {
    /// # Safety
    ///
    /// The library is libhdf5, was started, and stays loaded while these are used.
    pub(super) unsafe fn load(library: &Library) -> Result<Functions> {
        // SAFETY: each type is the function's C signature; classes and types are variables.
        unsafe {
            let variable = |name: &[u8]| library.get::<*const Id>(name).map(|place| **place);
            Ok(Functions {
                file_create: *library.get(b"H5Fcreate\0")?,
                file_close: *library.get(b"H5Fclose\0")?,
                file_flush: *library.get(b"H5Fflush\0")?,
                group_create: *library.get(b"H5Gcreate2\0")?,
                group_close: *library.get(b"H5Gclose\0")?,
                dataset_create: *library.get(b"H5Dcreate2\0")?,
                dataset_write: *library.get(b"H5Dwrite\0")?,
                dataset_close: *library.get(b"H5Dclose\0")?,
                attribute_create: *library.get(b"H5Acreate2\0")?,
                attribute_write: *library.get(b"H5Awrite\0")?,
                attribute_close: *library.get(b"H5Aclose\0")?,
                scalar: *library.get(b"H5Screate\0")?,
                space_close: *library.get(b"H5Sclose\0")?,
                properties: *library.get(b"H5Pcreate\0")?,
                properties_close: *library.get(b"H5Pclose\0")?,
                set_chunk: *library.get(b"H5Pset_chunk\0")?,
                set_shuffle: *library.get(b"H5Pset_shuffle\0")?,
                set_deflate: *library.get(b"H5Pset_deflate\0")?,
                set_bounds: *library.get(b"H5Pset_libver_bounds\0")?,
                type_copy: *library.get(b"H5Tcopy\0")?,
                type_resize: *library.get(b"H5Tset_size\0")?,
                type_close: *library.get(b"H5Tclose\0")?,
                of_datasets: variable(b"H5P_CLS_DATASET_CREATE_ID_g\0")?,
                of_access: variable(b"H5P_CLS_FILE_ACCESS_ID_g\0")?,
                float: variable(b"H5T_NATIVE_FLOAT_g\0")?,
                double: variable(b"H5T_NATIVE_DOUBLE_g\0")?,
                text: variable(b"H5T_C_S1_g\0")?,
            })
        }
    }
}

/// Something that is open and is closed when this is dropped.
pub(crate) struct Open {
    id: Id,
    close: Close,
}

impl Open {
    pub(super) fn new(id: Id, close: Close, call: &str) -> Result<Open> {
        Ok(Open { id: checked(id, call)?, close })
    }

    pub(super) fn id(&self) -> Id {
        self.id
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: opened by the call that belongs to it, closed only here.
        unsafe { (self.close)(self.id) };
    }
}

/// How the values of a new dataset are stored: one piece, or chunks of a shape, perhaps shuffled and deflated at a level.
pub(crate) type Stored<'a> = Option<(&'a [u64], Option<c_uint>)>;

/// `H5F_ACC_TRUNC`, `H5F_LIBVER_EARLIEST`, `H5F_LIBVER_LATEST` of libhdf5 2.0, and a size for strings of any length.
const TRUNCATE: c_uint = 2;
const EARLIEST: c_int = 0;
const LATEST: c_int = 5;
const VARIABLE: usize = usize::MAX;

impl Hdf5 {
    /// A new file in place of an old one, with the newest versions of everything or the oldest.
    pub(crate) fn create(&self, path: &Path, latest: bool) -> Result<Open> {
        let (calls, name) = (&self.writes, CString::new(path.as_os_str().as_encoded_bytes())?);
        // SAFETY: the name ends with a zero, the list of properties is open.
        unsafe {
            let access = Open::new((calls.properties)(calls.of_access), calls.properties_close, "H5Pcreate")?;
            let low = if latest { LATEST } else { EARLIEST };
            done((calls.set_bounds)(access.id, low, LATEST), "H5Pset_libver_bounds")?;
            Open::new((calls.file_create)(name.as_ptr(), TRUNCATE, 0, access.id), calls.file_close, "H5Fcreate")
        }
    }

    /// Writes what it has of an open file in memory.
    pub(crate) fn flush(&self, file: &Open) -> Result<()> {
        // SAFETY: the file is open; the number is `H5F_SCOPE_LOCAL`.
        done(unsafe { (self.writes.file_flush)(file.id, 0) }, "H5Fflush")
    }

    /// A new group.
    pub(crate) fn new_group(&self, place: &Open, name: &str) -> Result<Open> {
        let (calls, name) = (&self.writes, CString::new(name)?);
        // SAFETY: the place is open, the name ends with a zero.
        unsafe { Open::new((calls.group_create)(place.id, name.as_ptr(), 0, 0, 0), calls.group_close, "H5Gcreate2") }
    }

    /// A new dataset of floats with these values.
    pub(crate) fn write_floats(
        &self,
        place: &Open,
        name: &str,
        shape: &[u64],
        stored: Stored<'_>,
        values: &[f32],
    ) -> Result<Open> {
        self.write(place, name, shape, stored, self.writes.float, values.as_ptr().cast())
    }

    /// A new dataset of floats without values.
    pub(crate) fn new_floats(&self, place: &Open, name: &str, shape: &[u64], stored: Stored<'_>) -> Result<Open> {
        self.make(place, name, shape, stored, self.writes.float)
    }

    /// A new dataset of strings of any length.
    pub(crate) fn write_strings(&self, place: &Open, name: &str, values: &[CString]) -> Result<Open> {
        let calls = &self.writes;
        let pointers: Vec<*const c_char> = values.iter().map(|value| value.as_ptr()).collect();
        // SAFETY: the type is libhdf5's own.
        let datatype = Open::new(unsafe { (calls.type_copy)(calls.text) }, calls.type_close, "H5Tcopy")?;
        // SAFETY: a copy may be changed.
        done(unsafe { (calls.type_resize)(datatype.id, VARIABLE) }, "H5Tset_size")?;
        self.write(place, name, &[values.len() as u64], None, datatype.id, pointers.as_ptr().cast())
    }

    fn write(
        &self,
        place: &Open,
        name: &str,
        shape: &[u64],
        stored: Stored<'_>,
        datatype: Id,
        values: *const c_void,
    ) -> Result<Open> {
        let made = self.make(place, name, shape, stored, datatype)?;
        // SAFETY: all identifiers are open, and there are as many values as the shape says.
        done(unsafe { (self.writes.dataset_write)(made.id, datatype, 0, 0, 0, values) }, "H5Dwrite")?;
        Ok(made)
    }

    fn make(&self, place: &Open, name: &str, shape: &[u64], stored: Stored<'_>, datatype: Id) -> Result<Open> {
        self.make_in(place, name, self.space(shape)?.id, stored, datatype, |_| Ok(()))
    }

    /// The type of floats.
    pub(super) fn floats(&self) -> Id {
        self.writes.float
    }

    /// A new dataset in a dataspace; `more` says more of its properties.
    pub(super) fn make_in(
        &self,
        place: &Open,
        name: &str,
        space: Id,
        stored: Stored<'_>,
        datatype: Id,
        more: impl FnOnce(Id) -> Result<()>,
    ) -> Result<Open> {
        let (calls, name) = (&self.writes, CString::new(name)?);
        // SAFETY: all identifiers are open, the name ends with a zero.
        unsafe {
            let properties = Open::new((calls.properties)(calls.of_datasets), calls.properties_close, "H5Pcreate")?;
            if let Some((chunk, deflate)) = stored {
                done((calls.set_chunk)(properties.id, chunk.len() as c_int, chunk.as_ptr()), "H5Pset_chunk")?;
                if let Some(level) = deflate {
                    done((calls.set_shuffle)(properties.id), "H5Pset_shuffle")?;
                    done((calls.set_deflate)(properties.id, level), "H5Pset_deflate")?;
                }
            }
            more(properties.id)?;
            let made = (calls.dataset_create)(place.id, name.as_ptr(), datatype, space, 0, properties.id, 0);
            Open::new(made, calls.dataset_close, "H5Dcreate2")
        }
    }

    /// Writes floats to the selected elements of a dataset.
    pub(crate) fn write_part(&self, dataset: &Open, selection: &Space<'_>, values: &[f32]) -> Result<()> {
        let (calls, memory) = (&self.writes, self.space(&[values.len() as u64])?);
        ensure!(selection.npoints() == values.len() as u64, "as many values as elements");
        // SAFETY: all identifiers are open, and there are as many values as both spaces select.
        let written = unsafe {
            (calls.dataset_write)(dataset.id, calls.float, memory.id, selection.id, 0, values.as_ptr().cast())
        };
        done(written, "H5Dwrite")
    }

    /// A new attribute with one double.
    pub(crate) fn write_attribute(&self, object: &Open, name: &str, value: f64) -> Result<()> {
        let (calls, name) = (&self.writes, CString::new(name)?);
        // SAFETY: all identifiers are open, the name ends with a zero, and the value is one double.
        unsafe {
            let space = Open::new((calls.scalar)(0), calls.space_close, "H5Screate")?;
            let made = (calls.attribute_create)(object.id, name.as_ptr(), calls.double, space.id, 0, 0);
            let made = Open::new(made, calls.attribute_close, "H5Acreate2")?;
            done((calls.attribute_write)(made.id, calls.double, (&raw const value).cast()), "H5Awrite")
        }
    }
}
