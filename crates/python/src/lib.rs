//! The Python package `hyperslab`: HDF5 files with h5py's names.
//!
//! Lives here: what Python must not do slowly: selections, values to and from NumPy arrays, values as Python objects. Does not live here:
//! the classes that users see, which are Python (`python/hyperslab`), nor any algorithm.

mod array;
mod attribute;
mod cache_policy;
mod cache_stats;
mod closing;
mod copy;
mod create;
mod dataset;
mod engine;
mod error;
mod extent;
mod file;
mod file_object;
mod given;
mod group;
mod handles;
mod index;
mod list;
mod many;
mod memory;
mod monitor;
mod names;
mod node_handle;
mod numbers;
mod numpy_type;
mod object;
mod objects;
mod own_texts;
mod points;
mod reentrant_lock;
mod reference;
mod shared;
mod space;
mod stored_type;
mod texts;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Opening, making and reading objects allocates much and little at a time: twice as fast so (`docs/benchmarks.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The part of the package that is Rust. It does without the interpreter's lock where an interpreter has none: what threads share is behind locks of
/// its own. Arrays that other threads change meanwhile are as unsafe here as they are in NumPy.
#[pymodule(gil_used = false)]
mod _hyperslab {
    use super::*;

    #[pymodule_export]
    use super::attribute::AttributeHandle;
    #[pymodule_export]
    use super::copy::copy;
    #[pymodule_export]
    use super::dataset::DatasetHandle;
    #[pymodule_export]
    use super::group::link_changes;
    #[pymodule_export]
    use super::handles::{DatatypeHandle, FileHandle, GroupHandle, ObjectHandle};
    #[pymodule_export]
    use super::many::{read_many, write_many};
    #[pymodule_export]
    use super::reference::{PyReference, PyRegionReference};
    #[pymodule_export]
    use super::shared::at_exit;
    #[pymodule_export]
    use super::space::PySpace;

    /// The elements that an index names in an array of a shape, and the shape that they make.
    #[pyfunction]
    fn select<'py>(
        py: Python<'py>,
        shape: Vec<u64>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<(space::PySpace, Bound<'py, PyTuple>)> {
        let whole = hyperslab::space::Space::simple(&shape).map_err(error::of_space)?;
        let picked = index::pick(whole, arguments)?;
        Ok((space::PySpace::new(picked.space), PyTuple::new(py, picked.shape)?))
    }

    /// The least and the largest number of each column of an array of 64-bit integers, or `None` for other arrays.
    #[pyfunction]
    fn extremes(coords: &Bound<'_, PyAny>) -> Option<Vec<(i64, i64)>> {
        points::extremes(coords)
    }

    /// Whether a filter is there.
    #[pyfunction]
    fn filter_available(id: i64) -> bool {
        create::filter_available(id)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("UNLIMITED", hyperslab::space::UNLIMITED)?;
        module.add("ExtentError", module.py().get_type::<error::ExtentError>())?;
        module.add("ExistsError", module.py().get_type::<error::ExistsError>())?;
        shared::watch_exit(module)
    }
}
