//! Dataspaces of libhdf5.

use super::{Hdf5, Id, checked, done};
use anyhow::{Result, bail};
use libloading::Library;
use std::ffi::{c_int, c_uint};

/// Runs that one call hands over, on both sides: as many as libhdf5 itself takes at a time.
pub(crate) const BATCH: usize = 1024;

/// Where a call puts its runs; kept between walks, so that no clock sees its allocation.
pub(crate) struct Buffers {
    offsets: Vec<u64>,
    lengths: Vec<usize>,
}

impl Buffers {
    pub(crate) fn new() -> Buffers {
        Buffers { offsets: vec![0; BATCH], lengths: vec![0; BATCH] }
    }
}

/// `H5S_seloper_t`.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Set = 0,
    Or = 1,
}

type Points = unsafe extern "C" fn(Id, c_int, usize, *const u64) -> c_int;
type Select = unsafe extern "C" fn(Id, c_int, *const u64, *const u64, *const u64, *const u64) -> c_int;
type Sequences = unsafe extern "C" fn(Id, usize, usize, *mut usize, *mut usize, *mut u64, *mut usize) -> c_int;

/// The functions in use.
pub(super) struct Functions {
    create_simple: unsafe extern "C" fn(c_int, *const u64, *const u64) -> Id,
    select_hyperslab: Select,
    select_elements: Points,
    npoints: unsafe extern "C" fn(Id) -> i64,
    close: unsafe extern "C" fn(Id) -> c_int,
    iter_create: unsafe extern "C" fn(Id, usize, c_uint) -> Id,
    iter_next: Sequences,
    iter_close: unsafe extern "C" fn(Id) -> c_int,
}

impl Functions {
    /// # Safety
    ///
    /// The library is libhdf5 and stays loaded while these are used.
    pub(super) unsafe fn load(library: &Library) -> Result<Functions> {
        // SAFETY: each type is the function's C signature.
        unsafe {
            Ok(Functions {
                create_simple: *library.get(b"H5Screate_simple\0")?,
                select_hyperslab: *library.get(b"H5Sselect_hyperslab\0")?,
                select_elements: *library.get(b"H5Sselect_elements\0")?,
                npoints: *library.get(b"H5Sget_select_npoints\0")?,
                close: *library.get(b"H5Sclose\0")?,
                iter_create: *library.get(b"H5Ssel_iter_create\0")?,
                iter_next: *library.get(b"H5Ssel_iter_get_seq_list\0")?,
                iter_close: *library.get(b"H5Ssel_iter_close\0")?,
            })
        }
    }
}

/// A dataspace of libhdf5.
pub(crate) struct Space<'a> {
    hdf5: &'a Hdf5,
    pub(super) id: Id,
    rank: usize,
}

/// One regular hyperslab: start, stride, count and block of each dimension.
pub(crate) struct Pattern<'a> {
    pub(crate) start: &'a [u64],
    pub(crate) stride: &'a [u64],
    pub(crate) count: &'a [u64],
    pub(crate) block: &'a [u64],
}

impl Hdf5 {
    /// A dataspace of this size with everything selected.
    pub(crate) fn space(&self, dims: &[u64]) -> Result<Space<'_>> {
        let rank = c_int::try_from(dims.len())?;
        // SAFETY: `dims` has `rank` entries; a null maximum means the same size.
        let id = unsafe { (self.spaces.create_simple)(rank, dims.as_ptr(), std::ptr::null()) };
        Ok(Space { hdf5: self, id: checked(id, "H5Screate_simple")?, rank: dims.len() })
    }
}

impl Hdf5 {
    /// A dataspace that a call gave, of which no selection will be asked.
    pub(super) fn adopt(&self, id: Id) -> Space<'_> {
        Space { hdf5: self, id, rank: 0 }
    }
}

impl Space<'_> {
    /// Combines the selection with a regular hyperslab.
    pub(crate) fn select(&mut self, operation: Operation, pattern: &Pattern<'_>) -> Result<()> {
        let Pattern { start, stride, count, block } = pattern;
        if [start, stride, count, block].iter().any(|part| part.len() != self.rank) {
            bail!("the pattern has another rank than the space");
        }
        let (start, stride, count, block) = (start.as_ptr(), stride.as_ptr(), count.as_ptr(), block.as_ptr());
        let select = self.hdf5.spaces.select_hyperslab;
        // SAFETY: all four slices have `rank` entries, and the identifier is open.
        done(unsafe { select(self.id, operation as c_int, start, stride, count, block) }, "H5Sselect_hyperslab")
    }

    /// Selects points, given by their coordinates one after the other.
    pub(crate) fn select_points(&mut self, coords: &[u64]) -> Result<()> {
        let (select, count) = (self.hdf5.spaces.select_elements, coords.len() / self.rank.max(1));
        // SAFETY: the slice has `count` times `rank` entries, and the identifier is open.
        done(unsafe { select(self.id, Operation::Set as c_int, count, coords.as_ptr()) }, "H5Sselect_elements")
    }

    /// Number of selected elements.
    pub(crate) fn npoints(&self) -> u64 {
        // SAFETY: the identifier is open.
        unsafe { (self.hdf5.spaces.npoints)(self.id) }.cast_unsigned()
    }

    /// Hands every (offset, length) in bytes to `take`.
    pub(crate) fn runs(
        &self,
        element_size: usize,
        buffers: &mut Buffers,
        mut take: impl FnMut(u64, u64),
    ) -> Result<()> {
        let Buffers { offsets, lengths } = buffers;
        // SAFETY: the identifier is open; no flags.
        let iterator = unsafe { (self.hdf5.spaces.iter_create)(self.id, element_size, 0) };
        if iterator < 0 {
            bail!("H5Ssel_iter_create failed");
        }
        loop {
            let (mut found, mut elements) = (0, 0);
            // SAFETY: both buffers have room for BATCH entries, and no more are asked for.
            let status = unsafe {
                let (found, elements) = (&raw mut found, &raw mut elements);
                let (offsets, lengths) = (offsets.as_mut_ptr(), lengths.as_mut_ptr());
                (self.hdf5.spaces.iter_next)(iterator, BATCH, isize::MAX as usize, found, elements, offsets, lengths)
            };
            if status < 0 || found == 0 {
                // SAFETY: opened above and closed only here.
                unsafe { (self.hdf5.spaces.iter_close)(iterator) };
                return if status < 0 { bail!("H5Ssel_iter_get_seq_list failed") } else { Ok(()) };
            }
            for (&offset, &length) in offsets.iter().zip(lengths.iter()).take(found) {
                take(offset, length as u64);
            }
        }
    }
}

impl Drop for Space<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by `Hdf5::space`, closed only here.
        unsafe { (self.hdf5.spaces.close)(self.id) };
    }
}
