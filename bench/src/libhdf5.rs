//! libhdf5's dataspace functions, called in the shared object that the h5py wheel brings.
//!
//! The only place with `unsafe` in the workshop. Benefit: both sides run in one process, with no Python between the clock
//! and the C code. Soundness: the signatures are those of `H5Spublic.h` (HDF5 1.12 to 2.0), every pointer is to a live
//! slice of the length that the call is told, and each identifier is closed once, by `Drop`.

#![expect(unsafe_code, reason = "calls into a C library")]

use anyhow::{Context, Result, bail};
use libloading::Library;
use std::ffi::{c_int, c_uint};
use std::path::{Path, PathBuf};

/// `hid_t`.
type Id = i64;

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

type Select = unsafe extern "C" fn(Id, c_int, *const u64, *const u64, *const u64, *const u64) -> c_int;
type Sequences = unsafe extern "C" fn(Id, usize, usize, *mut usize, *mut usize, *mut u64, *mut usize) -> c_int;

/// The functions in use. They stay valid while the library is loaded, which is as long as this lives.
pub(crate) struct Hdf5 {
    create_simple: unsafe extern "C" fn(c_int, *const u64, *const u64) -> Id,
    select_hyperslab: Select,
    npoints: unsafe extern "C" fn(Id) -> i64,
    close: unsafe extern "C" fn(Id) -> c_int,
    iter_create: unsafe extern "C" fn(Id, usize, c_uint) -> Id,
    iter_next: Sequences,
    iter_close: unsafe extern "C" fn(Id) -> c_int,
    version: (c_uint, c_uint, c_uint),
    _library: Library,
}

/// A dataspace of libhdf5.
pub(crate) struct Space<'a> {
    hdf5: &'a Hdf5,
    id: Id,
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
    /// Loads the libhdf5 of the wheel in a Python environment. Its neighbours (szip, aec) are found beside it by its own
    /// search path.
    pub(crate) fn load(environment: &Path) -> Result<Hdf5> {
        let path = shared_object(environment)?;
        // SAFETY: loading libhdf5 runs only its own initializers, which have no precondition.
        let library = unsafe { Library::new(&path) }.with_context(|| format!("cannot load {}", path.display()))?;
        // SAFETY: each type is the function's C signature; see the head of this file.
        unsafe {
            let open: unsafe extern "C" fn() -> c_int = *library.get(b"H5open\0")?;
            let get_version: unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int =
                *library.get(b"H5get_libversion\0")?;
            let mut version = (0, 0, 0);
            if open() < 0 || get_version(&raw mut version.0, &raw mut version.1, &raw mut version.2) < 0 {
                bail!("libhdf5 does not start");
            }
            Ok(Hdf5 {
                create_simple: *library.get(b"H5Screate_simple\0")?,
                select_hyperslab: *library.get(b"H5Sselect_hyperslab\0")?,
                npoints: *library.get(b"H5Sget_select_npoints\0")?,
                close: *library.get(b"H5Sclose\0")?,
                iter_create: *library.get(b"H5Ssel_iter_create\0")?,
                iter_next: *library.get(b"H5Ssel_iter_get_seq_list\0")?,
                iter_close: *library.get(b"H5Ssel_iter_close\0")?,
                version,
                _library: library,
            })
        }
    }

    /// Its version, for the headline.
    pub(crate) fn version(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }

    /// A dataspace of this size with everything selected.
    pub(crate) fn space(&self, dims: &[u64]) -> Result<Space<'_>> {
        let rank = c_int::try_from(dims.len())?;
        // SAFETY: `dims` has `rank` entries; a null maximum means the same size.
        let id = unsafe { (self.create_simple)(rank, dims.as_ptr(), std::ptr::null()) };
        if id < 0 {
            bail!("H5Screate_simple failed");
        }
        Ok(Space { hdf5: self, id, rank: dims.len() })
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
        // SAFETY: all four slices have `rank` entries, and the identifier is open.
        let status = unsafe { (self.hdf5.select_hyperslab)(self.id, operation as c_int, start, stride, count, block) };
        if status < 0 { bail!("H5Sselect_hyperslab failed") } else { Ok(()) }
    }

    /// Number of selected elements.
    pub(crate) fn npoints(&self) -> u64 {
        // SAFETY: the identifier is open.
        unsafe { (self.hdf5.npoints)(self.id) }.cast_unsigned()
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
        let iterator = unsafe { (self.hdf5.iter_create)(self.id, element_size, 0) };
        if iterator < 0 {
            bail!("H5Ssel_iter_create failed");
        }
        loop {
            let (mut found, mut elements) = (0, 0);
            // SAFETY: both buffers have room for BATCH entries, and no more are asked for.
            let status = unsafe {
                let (found, elements) = (&raw mut found, &raw mut elements);
                let (offsets, lengths) = (offsets.as_mut_ptr(), lengths.as_mut_ptr());
                (self.hdf5.iter_next)(iterator, BATCH, isize::MAX as usize, found, elements, offsets, lengths)
            };
            if status < 0 || found == 0 {
                // SAFETY: opened above and closed only here.
                unsafe { (self.hdf5.iter_close)(iterator) };
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
        unsafe { (self.hdf5.close)(self.id) };
    }
}

/// `lib/python3.x/site-packages/h5py.libs/libhdf5-*.so*` of an environment.
fn shared_object(environment: &Path) -> Result<PathBuf> {
    let library = environment.join("lib");
    let versions = std::fs::read_dir(&library).with_context(|| format!("no Python in {}", environment.display()))?;
    for version in versions {
        let Ok(neighbours) = std::fs::read_dir(version?.path().join("site-packages/h5py.libs")) else { continue };
        for file in neighbours {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with("libhdf5-") {
                return Ok(file.path());
            }
        }
    }
    bail!("no libhdf5 in {}: the wheel of h5py brings it", environment.display())
}
