//! Requests that select in the extent of the moment, beside threads that resize.

use pyo3::prelude::*;

use crate::error::ExtentError;

/// A request that meets so many resizes in a row gives up.
const MOST_TRIES: usize = 1000;

/// Does a request that selects in the extent of the moment, again if the dataset was resized before the engine did it.
pub(crate) fn again_if_resized<T>(py: Python<'_>, mut request: impl FnMut() -> PyResult<T>) -> PyResult<T> {
    for _ in 0..MOST_TRIES {
        match request() {
            Err(why) if why.is_instance_of::<ExtentError>(py) => {}
            done => return done,
        }
    }
    request()
}
