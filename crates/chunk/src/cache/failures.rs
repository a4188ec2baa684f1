//! Chunks that could not be written, and why.

use hyperslab_cache::WriteFailure;
use hyperslab_file::Error as FileError;
use hyperslab_filter::{Error as FilterError, Fault};

use crate::{DatasetStorage, Error, Result};

/// The chunks that an attempt to write could not write. They are dirty as before, and the next flush tries them again, so eviction may drop this.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// The first one, as an error that names it.
    first: Option<(String, Vec<u64>, Error)>,
    count: usize,
}

impl Failures {
    /// Adds `count` chunks, of which the first is at a coordinate, that could not be written for one reason.
    pub(super) fn add(&mut self, storage: &DatasetStorage, coord: &[u64], count: usize, why: Error) {
        self.first.get_or_insert_with(|| (storage.name(), coord.to_vec(), why));
        self.count += count;
    }

    /// Those of another attempt, too.
    pub(super) fn merge(&mut self, other: Failures) {
        if self.first.is_none() {
            self.first = other.first;
        }
        self.count += other.count;
    }

    /// An error that names the first and counts the others, if there are some.
    pub(super) fn into_result(self) -> Result<()> {
        let Some((dataset, chunk, why)) = self.first else { return Ok(()) };
        Err(Error::Unwritten { dataset, chunk, more: self.count.saturating_sub(1), source: Box::new(why) })
    }
}

/// Whether another attempt to write the same values may succeed.
pub(super) fn kind_of(why: &Error) -> WriteFailure {
    match why {
        Error::Filter {
            source: FilterError::Memory(_) | FilterError::Failed { fault: Fault::Memory(_), .. }, ..
        } => WriteFailure::Transient,
        Error::Filter { .. } | Error::Layout(_) => WriteFailure::Permanent,
        _ => WriteFailure::Transient,
    }
}

/// Whether nothing can be written to the file, whichever chunk it is.
pub(super) fn is_of_file(why: &Error) -> bool {
    matches!(why, Error::File(FileError::ReadOnly | FileError::Closed | FileError::Poisoned { .. }))
}
