//! Changing files with libhdf5: datasets that grow, links and attributes that come and go.

use super::{Hdf5, Id, done, write::Open};
use anyhow::Result;
use libloading::Library;
use std::ffi::{CString, c_char, c_int};

/// The functions in use.
pub(super) struct Functions {
    space: unsafe extern "C" fn(c_int, *const u64, *const u64) -> Id,
    space_close: unsafe extern "C" fn(Id) -> c_int,
    set_extent: unsafe extern "C" fn(Id, *const u64) -> c_int,
    set_alloc_time: unsafe extern "C" fn(Id, c_int) -> c_int,
    soft: unsafe extern "C" fn(*const c_char, Id, *const c_char, Id, Id) -> c_int,
    hard: unsafe extern "C" fn(Id, *const c_char, Id, *const c_char, Id, Id) -> c_int,
    unlink: unsafe extern "C" fn(Id, *const c_char, Id) -> c_int,
    drop_attribute: unsafe extern "C" fn(Id, *const c_char) -> c_int,
}

impl Functions {
    /// # Safety
    ///
    /// The library is libhdf5, was started, and stays loaded while these are used.
    pub(super) unsafe fn load(library: &Library) -> Result<Functions> {
        // SAFETY: each type is the function's C signature.
        unsafe {
            Ok(Functions {
                space: *library.get(b"H5Screate_simple\0")?,
                space_close: *library.get(b"H5Sclose\0")?,
                set_extent: *library.get(b"H5Dset_extent\0")?,
                set_alloc_time: *library.get(b"H5Pset_alloc_time\0")?,
                soft: *library.get(b"H5Lcreate_soft\0")?,
                hard: *library.get(b"H5Lcreate_hard\0")?,
                unlink: *library.get(b"H5Ldelete\0")?,
                drop_attribute: *library.get(b"H5Adelete\0")?,
            })
        }
    }
}

/// `H5D_ALLOC_TIME_EARLY`.
const EARLY: c_int = 1;

/// A shape, how far it may grow, and the chunks.
pub(crate) struct Grown<'a> {
    pub(crate) shape: &'a [u64],
    /// Without a limit where it is `u64::MAX`.
    pub(crate) max: &'a [u64],
    pub(crate) chunk: &'a [u64],
    /// Whether all chunks have their space from the beginning.
    pub(crate) early: bool,
}

impl Hdf5 {
    /// A new dataset of floats that may grow.
    pub(crate) fn new_grown(&self, place: &Open, name: &str, grown: &Grown<'_>) -> Result<Open> {
        let (calls, rank) = (&self.changes, grown.shape.len() as c_int);
        // SAFETY: both slices have the rank that is told, and the space is closed by `Open`.
        let space = unsafe { (calls.space)(rank, grown.shape.as_ptr(), grown.max.as_ptr()) };
        let space = Open::new(space, calls.space_close, "H5Screate_simple")?;
        self.make_in(place, name, space.id(), Some((grown.chunk, None)), self.floats(), |properties| {
            if !grown.early {
                return Ok(());
            }
            // SAFETY: the list of properties is open.
            done(unsafe { (calls.set_alloc_time)(properties, EARLY) }, "H5Pset_alloc_time")
        })
    }

    /// Gives a dataset another size.
    pub(crate) fn resize(&self, dataset: &Open, shape: &[u64]) -> Result<()> {
        // SAFETY: the dataset is open and has the rank of the shape.
        done(unsafe { (self.changes.set_extent)(dataset.id(), shape.as_ptr()) }, "H5Dset_extent")
    }

    /// A soft link of a group.
    pub(crate) fn soft_link(&self, group: &Open, name: &str, target: &str) -> Result<()> {
        let (name, target) = (CString::new(name)?, CString::new(target)?);
        // SAFETY: the group is open, both names end with a zero.
        done(unsafe { (self.changes.soft)(target.as_ptr(), group.id(), name.as_ptr(), 0, 0) }, "H5Lcreate_soft")
    }

    /// Another name for an object of a group.
    pub(crate) fn hard_link(&self, group: &Open, name: &str, object: &str) -> Result<()> {
        let (name, object) = (CString::new(name)?, CString::new(object)?);
        let id = group.id();
        // SAFETY: the group is open, both names end with a zero.
        done(unsafe { (self.changes.hard)(id, object.as_ptr(), id, name.as_ptr(), 0, 0) }, "H5Lcreate_hard")
    }

    /// Takes a link out of a group.
    pub(crate) fn unlink(&self, group: &Open, name: &str) -> Result<()> {
        let name = CString::new(name)?;
        // SAFETY: the group is open, the name ends with a zero.
        done(unsafe { (self.changes.unlink)(group.id(), name.as_ptr(), 0) }, "H5Ldelete")
    }

    /// Takes an attribute from an object.
    pub(crate) fn remove_attribute(&self, object: &Open, name: &str) -> Result<()> {
        let name = CString::new(name)?;
        // SAFETY: the object is open, the name ends with a zero.
        done(unsafe { (self.changes.drop_attribute)(object.id(), name.as_ptr()) }, "H5Adelete")
    }
}
