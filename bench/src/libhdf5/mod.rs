//! libhdf5, called in the shared object that the h5py wheel brings: dataspaces (`space`), files (`file`), new ones (`write`) and those that
//! change (`change`).
//!
//! The only place with `unsafe` in the workshop. Benefit: both sides run in one process, with no Python between the clock
//! and the C code. Soundness: the signatures are those of the public headers (HDF5 1.12 to 2.0), every pointer is to a live
//! slice of the length that the call is told, and each identifier is closed once, by `Drop`.

#![expect(unsafe_code, reason = "calls into a C library")]

mod change;
mod file;
mod space;
mod write;

use anyhow::{Context, Result, bail};
use libloading::Library;
use std::ffi::{c_int, c_uint};
use std::path::{Path, PathBuf};

pub(crate) use change::Grown;
pub(crate) use file::{Memory, Visit};
pub(crate) use space::{BATCH, Buffers, Operation, Pattern, Space};

/// `hid_t`.
type Id = i64;

/// The functions in use. They stay valid while the library is loaded, which is as long as this lives.
pub(crate) struct Hdf5 {
    spaces: space::Functions,
    files: file::Functions,
    writes: write::Functions,
    changes: change::Functions,
    version: (c_uint, c_uint, c_uint),
    _library: Library,
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
            let (spaces, files) = (space::Functions::load(&library)?, file::Functions::load(&library)?);
            let (writes, changes) = (write::Functions::load(&library)?, change::Functions::load(&library)?);
            Ok(Hdf5 { spaces, files, writes, changes, version, _library: library })
        }
    }

    /// Its version, for the headline.
    pub(crate) fn version(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }
}

/// What a call gave, if it is no failure.
fn checked(id: Id, call: &str) -> Result<Id> {
    if id < 0 { bail!("{call} failed") } else { Ok(id) }
}

/// The same for calls that give no identifier.
fn done(status: c_int, call: &str) -> Result<()> {
    checked(Id::from(status), call).map(drop)
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
