//! The Python package `hyperslab`: HDF5 files with h5py's names.
//!
//! Lives here: what Python must not do slowly: selections, reads into NumPy arrays, values as Python objects. Does not live here:
//! the classes that users see, which are Python (`python/hyperslab`), nor any algorithm.

mod array;
mod attribute;
mod dataset;
mod error;
mod file;
mod index;
mod memory;
mod numbers;
mod numpy_type;
mod object;
mod objects;
mod reference;
mod space;

use pyo3::prelude::*;

/// The part of the package that is Rust.
#[pymodule]
mod _hyperslab {
    use super::*;

    #[pymodule_export]
    use super::attribute::AttributeHandle;
    #[pymodule_export]
    use super::dataset::DatasetHandle;
    #[pymodule_export]
    use super::file::FileHandle;
    #[pymodule_export]
    use super::object::{DatatypeHandle, GroupHandle, ObjectHandle};
    #[pymodule_export]
    use super::reference::{PyReference, PyRegionReference};
    #[pymodule_export]
    use super::space::PySpace;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("UNLIMITED", hyperslab::space::UNLIMITED)
    }
}
