//! Why nothing more is written to a file.

use std::{error::Error as StdError, io};

use super::Store;
use crate::{Error, Result};

/// Why an operation failed in the middle: its text, and what the operating system said. The error itself goes to the caller of that operation.
#[derive(Clone, Debug)]
pub(crate) struct Poison {
    why: String,
    os_error: Option<i32>,
}

impl Store {
    /// Lets nothing more be written.
    pub(crate) fn poison(&self, why: &(dyn StdError + 'static)) {
        let os_error = hyperslab_base::os_error(why).and_then(io::Error::raw_os_error);
        *self.poison.lock() = Some(Poison { why: why.to_string(), os_error });
    }

    /// As [`Store::poison`], after a panic.
    pub(crate) fn poison_by_panic(&self) {
        *self.poison.lock() =
            Some(Poison { why: "a thread panicked while it changed the file".into(), os_error: None });
    }

    /// Refuses to write to a file after an operation that failed in the middle.
    pub(crate) fn check_poison(&self) -> Result<()> {
        match self.poison.lock().clone() {
            Some(Poison { why, os_error }) => {
                Err(Error::Poisoned { why, source: os_error.map(io::Error::from_raw_os_error) })
            }
            None => Ok(()),
        }
    }
}
