//! Which chunks leave the cache first, as Python names it.

use hyperslab::CachePolicy;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A policy by its name.
pub(crate) fn cache_policy(name: &str) -> PyResult<CachePolicy> {
    name.parse::<CachePolicy>().map_err(|why| PyValueError::new_err(why.to_string()))
}
