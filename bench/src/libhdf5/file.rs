//! Files, datasets and attributes of libhdf5.

use super::{Hdf5, Id, Space, checked, done};
use anyhow::{Result, ensure};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;

type Callback = unsafe extern "C" fn(Id, *const c_char, *const c_void, *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(Id) -> c_int;
type Get = unsafe extern "C" fn(Id) -> Id;
type Named = unsafe extern "C" fn(Id, *const c_char, Id) -> Id;

/// The functions in use.
pub(super) struct Functions {
    file_open: unsafe extern "C" fn(*const c_char, c_uint, Id) -> Id,
    file_close: Close,
    dataset_open: Named,
    dataset_close: Close,
    dataset_space: Get,
    dataset_type: Get,
    dataset_read: unsafe extern "C" fn(Id, Id, Id, Id, Id, *mut c_void) -> c_int,
    dataset_write: unsafe extern "C" fn(Id, Id, Id, Id, Id, *const c_void) -> c_int,
    type_class: unsafe extern "C" fn(Id) -> c_int,
    type_size: unsafe extern "C" fn(Id) -> usize,
    type_close: Close,
    reclaim: unsafe extern "C" fn(Id, Id, Id, *mut c_void) -> c_int,
    space_dims: unsafe extern "C" fn(Id, *mut u64, *mut u64) -> c_int,
    space_close: Close,
    iterate: unsafe extern "C" fn(Id, c_int, c_int, *mut u64, Callback, *mut c_void) -> c_int,
    object_open: Named,
    object_close: Close,
    kind: unsafe extern "C" fn(Id) -> c_int,
    attribute_open: Named,
    attribute_read: unsafe extern "C" fn(Id, Id, *mut c_void) -> c_int,
    attribute_close: Close,
    int: Id,
    float: Id,
    double: Id,
}

impl Functions {
    /// # Safety
    ///
    /// The library is libhdf5, was started, and stays loaded while these are used.
    pub(super) unsafe fn load(library: &Library) -> Result<Functions> {
        // SAFETY: each type is the function's C signature; the types of numbers are variables.
        unsafe {
            Ok(Functions {
                file_open: *library.get(b"H5Fopen\0")?,
                file_close: *library.get(b"H5Fclose\0")?,
                dataset_open: *library.get(b"H5Dopen2\0")?,
                dataset_close: *library.get(b"H5Dclose\0")?,
                dataset_space: *library.get(b"H5Dget_space\0")?,
                dataset_type: *library.get(b"H5Dget_type\0")?,
                dataset_read: *library.get(b"H5Dread\0")?,
                dataset_write: *library.get(b"H5Dwrite\0")?,
                type_class: *library.get(b"H5Tget_class\0")?,
                type_size: *library.get(b"H5Tget_size\0")?,
                type_close: *library.get(b"H5Tclose\0")?,
                reclaim: *library.get(b"H5Treclaim\0")?,
                space_dims: *library.get(b"H5Sget_simple_extent_dims\0")?,
                space_close: *library.get(b"H5Sclose\0")?,
                iterate: *library.get(b"H5Literate2\0")?,
                object_open: *library.get(b"H5Oopen\0")?,
                object_close: *library.get(b"H5Oclose\0")?,
                kind: *library.get(b"H5Iget_type\0")?,
                attribute_open: *library.get(b"H5Aopen\0")?,
                attribute_read: *library.get(b"H5Aread\0")?,
                attribute_close: *library.get(b"H5Aclose\0")?,
                int: **library.get::<*const Id>(b"H5T_NATIVE_INT_g\0")?,
                float: **library.get::<*const Id>(b"H5T_NATIVE_FLOAT_g\0")?,
                double: **library.get::<*const Id>(b"H5T_NATIVE_DOUBLE_g\0")?,
            })
        }
    }
}

/// An open file.
pub(crate) struct File<'a> {
    hdf5: &'a Hdf5,
    id: Id,
}

/// An open dataset.
pub(crate) struct Dataset<'a> {
    hdf5: &'a Hdf5,
    id: Id,
}

/// The type of the values in memory.
#[derive(Clone, Copy)]
pub(crate) enum Memory {
    Int,
    Float,
    Double,
}

/// Pointers to strings that libhdf5 allocated, freed by it when this is dropped.
pub(crate) struct Strings<'a> {
    hdf5: &'a Hdf5,
    datatype: Id,
    space: Id,
    pointers: Vec<*mut c_char>,
}

/// What a walk over a file met.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Visit {
    pub(crate) groups: u64,
    pub(crate) datasets: u64,
    /// The elements and the bytes of an element of all datasets.
    pub(crate) elements: u64,
    pub(crate) bytes: u64,
    /// The sum of all attributes.
    pub(crate) sum: f64,
}

/// `H5F_ACC_RDWR`.
const READ_WRITE: c_uint = 1;
/// `H5I_GROUP`.
const GROUP: c_int = 2;

impl Hdf5 {
    /// Opens a file for reading.
    pub(crate) fn open(&self, path: &Path) -> Result<File<'_>> {
        self.open_as(path, 0)
    }

    /// Opens a file to read and change it.
    pub(crate) fn edit(&self, path: &Path) -> Result<File<'_>> {
        self.open_as(path, READ_WRITE)
    }

    fn open_as(&self, path: &Path, flags: c_uint) -> Result<File<'_>> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: the name ends with a zero; default properties.
        let id = unsafe { (self.files.file_open)(name.as_ptr(), flags, 0) };
        Ok(File { hdf5: self, id: checked(id, "H5Fopen")? })
    }
}

impl<'a> File<'a> {
    /// Opens a dataset.
    pub(crate) fn dataset(&self, path: &str) -> Result<Dataset<'a>> {
        let name = CString::new(path)?;
        // SAFETY: the file is open, the name ends with a zero.
        let id = unsafe { (self.hdf5.files.dataset_open)(self.id, name.as_ptr(), 0) };
        Ok(Dataset { hdf5: self.hdf5, id: checked(id, "H5Dopen2")? })
    }

    /// Opens every object below the root group: kind, shape, type, and the value of the attribute `scale` of datasets.
    pub(crate) fn walk(&self) -> Result<Visit> {
        let root = CString::new("/")?;
        // SAFETY: the file is open, the name ends with a zero.
        let id = checked(unsafe { (self.hdf5.files.object_open)(self.id, root.as_ptr(), 0) }, "H5Oopen")?;
        let mut visit = Visit::default();
        let walked = self.hdf5.walk_group(id, &mut visit);
        // SAFETY: opened above, closed only here.
        unsafe { (self.hdf5.files.object_close)(id) };
        walked.map(|()| visit)
    }
}

/// What the callback of an iteration needs.
struct Walk<'a> {
    hdf5: &'a Hdf5,
    visit: &'a mut Visit,
}

/// The callback: one link of a group.
///
/// # Safety
///
/// `name` ends with a zero, and `data` is the [`Walk`] given to the iteration.
unsafe extern "C" fn meet(group: Id, name: *const c_char, _: *const c_void, data: *mut c_void) -> c_int {
    // SAFETY: see above.
    let (name, walk) = unsafe { (CStr::from_ptr(name), &mut *data.cast::<Walk<'_>>()) };
    match walk.hdf5.meet(group, name, walk.visit) {
        Ok(()) => 0,
        Err(_) => -1,
    }
}

impl Hdf5 {
    fn walk_group(&self, group: Id, visit: &mut Visit) -> Result<()> {
        visit.groups += 1;
        let mut walk = Walk { hdf5: self, visit };
        // SAFETY: the group is open, and the callback gets what it expects, alive during the call.
        let status =
            unsafe { (self.files.iterate)(group, 0, 0, std::ptr::null_mut(), meet, (&raw mut walk).cast::<c_void>()) };
        done(status, "H5Literate2")
    }

    fn meet(&self, group: Id, name: &CStr, visit: &mut Visit) -> Result<()> {
        let calls = &self.files;
        // SAFETY: all identifiers are open, names end with a zero, the extent has one dimension and the attribute one double.
        unsafe {
            let object = checked((calls.object_open)(group, name.as_ptr(), 0), "H5Oopen")?;
            if (calls.kind)(object) == GROUP {
                self.walk_group(object, visit)?;
            } else {
                let (space, datatype) = ((calls.dataset_space)(object), (calls.dataset_type)(object));
                let mut elements = 0;
                ensure!((calls.space_dims)(space, &raw mut elements, std::ptr::null_mut()) == 1, "another rank");
                ensure!((calls.type_class)(datatype) == 0, "another class");
                visit.bytes += (calls.type_size)(datatype) as u64;
                visit.elements += elements;
                visit.datasets += 1;
                (calls.space_close)(space);
                (calls.type_close)(datatype);
                let attribute = checked((calls.attribute_open)(object, c"scale".as_ptr(), 0), "H5Aopen")?;
                let mut value = 0f64;
                done((calls.attribute_read)(attribute, calls.double, (&raw mut value).cast()), "H5Aread")?;
                visit.sum += value;
                (calls.attribute_close)(attribute);
            }
            (calls.object_close)(object);
        }
        Ok(())
    }
}

impl<'a> Dataset<'a> {
    /// Reads the selection of `source` into all of `buf`; everything without one.
    pub(crate) fn read<T>(&self, memory: Memory, source: Option<&Space<'_>>, buf: &mut [T]) -> Result<()> {
        let calls = &self.hdf5.files;
        let (datatype, size) = match memory {
            Memory::Int => (calls.int, 4),
            Memory::Float => (calls.float, 4),
            Memory::Double => (calls.double, 8),
        };
        ensure!(size_of::<T>() == size, "values of another size");
        let all = source.is_none().then(|| self.space()).transpose()?;
        let count = source.or(all.as_ref()).map_or(0, Space::npoints);
        ensure!(count == buf.len() as u64, "{count} values for {} places", buf.len());
        let places = self.hdf5.space(&[count])?;
        let (places, source) = source.map_or((0, 0), |source| (places.id, source.id));
        // SAFETY: all identifiers are open, and the buffer has room for every selected value.
        let status = unsafe { (calls.dataset_read)(self.id, datatype, places, source, 0, buf.as_mut_ptr().cast()) };
        done(status, "H5Dread")
    }

    /// All strings of a dataset of strings of variable length.
    pub(crate) fn strings(&self) -> Result<Strings<'a>> {
        let (calls, space) = (&self.hdf5.files, self.space()?);
        let mut pointers: Vec<*mut c_char> = vec![std::ptr::null_mut(); usize::try_from(space.npoints())?];
        // SAFETY: the dataset is open; a string of variable length is a pointer in memory, and there is room for all.
        unsafe {
            let datatype = checked((calls.dataset_type)(self.id), "H5Dget_type")?;
            let read = (calls.dataset_read)(self.id, datatype, 0, 0, 0, pointers.as_mut_ptr().cast());
            done(read, "H5Dread")?;
            let space = (calls.dataset_space)(self.id);
            Ok(Strings { hdf5: self.hdf5, datatype, space, pointers })
        }
    }

    /// Writes floats to the selected elements.
    pub(crate) fn write(&self, selection: &Space<'_>, values: &[f32]) -> Result<()> {
        let (calls, memory) = (&self.hdf5.files, self.hdf5.space(&[values.len() as u64])?);
        ensure!(selection.npoints() == values.len() as u64, "as many values as elements");
        // SAFETY: all identifiers are open, and there are as many values as both spaces select.
        let status =
            unsafe { (calls.dataset_write)(self.id, calls.float, memory.id, selection.id, 0, values.as_ptr().cast()) };
        done(status, "H5Dwrite")
    }

    fn space(&self) -> Result<Space<'a>> {
        // SAFETY: the dataset is open.
        let id = unsafe { (self.hdf5.files.dataset_space)(self.id) };
        Ok(self.hdf5.adopt(checked(id, "H5Dget_space")?))
    }
}

impl Strings<'_> {
    /// How many bytes all strings have.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: libhdf5 gave pointers to strings that end with a zero.
        self.pointers.iter().map(|&text| unsafe { CStr::from_ptr(text) }.count_bytes()).sum()
    }
}

impl Drop for Strings<'_> {
    fn drop(&mut self) {
        let calls = &self.hdf5.files;
        // SAFETY: the pointers are those that the read gave, as many as the space has; identifiers are closed only here.
        unsafe {
            (calls.reclaim)(self.datatype, self.space, 0, self.pointers.as_mut_ptr().cast());
            (calls.type_close)(self.datatype);
            (calls.space_close)(self.space);
        }
    }
}

impl Drop for File<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by `Hdf5::open`, closed only here.
        unsafe { (self.hdf5.files.file_close)(self.id) };
    }
}

impl Drop for Dataset<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by `File::dataset`, closed only here.
        unsafe { (self.hdf5.files.dataset_close)(self.id) };
    }
}
