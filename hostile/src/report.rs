//! What a walk found.

use hyperslab::Error;

/// Errors that are kept.
const ERRORS: usize = 200;

/// What a walk found.
#[derive(Debug, Default)]
pub struct Report {
    /// Objects that could be opened.
    pub objects: usize,
    /// Reads of values that succeeded.
    pub reads: usize,
    /// What could not be had, and why.
    pub errors: Vec<Error>,
}

impl Report {
    /// The value, or a note of why there is none.
    pub(crate) fn keep<T, E: Into<Error>>(&mut self, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(why) => {
                if self.errors.len() < ERRORS {
                    self.errors.push(why.into());
                }
                None
            }
        }
    }

    /// As [`Report::keep`], for values that were read.
    pub(crate) fn count<T, E: Into<Error>>(&mut self, result: Result<T, E>) -> Option<T> {
        let value = self.keep(result);
        self.reads += usize::from(value.is_some());
        value
    }
}
