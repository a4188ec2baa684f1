//! Requests that select in the extent of the moment, beside threads that resize.

use pyo3::prelude::*;

use crate::error::ExtentError;

/// A request that meets so many resizes in a row gives up. Without the interpreter's lock, a thread that resizes without end comes between nearly all of
/// them: 1,000 were too few.
const MOST_TRIES: usize = 100_000;

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
