//! What is behind an error: the system, or missing memory. For callers that have words of their own for these.

use std::{error::Error as _, io, iter};

use hyperslab_base::memory::OutOfMemory;
use hyperslab_driver::Why;
use hyperslab_filter::Fault;

use crate::Error;

impl Error {
    /// The number of the system's error, if the system refused something: `ENOENT`, `ENOSPC`, … `EAGAIN` for a file that is locked.
    ///
    /// ```
    /// let error = hyperslab::File::open("/there/is/no/such/file").unwrap_err();
    /// assert_eq!(error.raw_os_error(), Some(2)); // ENOENT
    /// ```
    pub fn raw_os_error(&self) -> Option<i32> {
        self.causes().find_map(|cause| {
            let of_driver = cause.downcast_ref::<Why>().and_then(Why::raw_os_error);
            of_driver.or_else(|| cause.downcast_ref::<io::Error>()?.raw_os_error())
        })
    }

    /// Whether there was not enough memory.
    pub fn is_out_of_memory(&self) -> bool {
        let file = |why: &hyperslab_file::Error| matches!(why, hyperslab_file::Error::Memory { .. });
        let here = match self {
            Error::Memory { .. } | Error::Values(hyperslab_chunk::Error::Memory(_)) => true,
            Error::File(why) | Error::Values(hyperslab_chunk::Error::File(why)) => file(why),
            Error::Part { why, .. } => why.is_out_of_memory(),
            _ => false,
        };
        let fault = |cause: &(dyn std::error::Error + 'static)| {
            let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            let is_fault = matches!(cause.downcast_ref(), Some(Fault::Memory(_)));
            is_fault || cause.is::<OutOfMemory>() || kind == Some(io::ErrorKind::OutOfMemory)
        };
        here || self.causes().any(fault)
    }

    fn causes(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        iter::successors(self.source(), |cause| (*cause).source())
    }
}
