//! Why nothing more is written to a file.

use std::{
    error::Error as StdError,
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::Store;
use crate::{Error, Result};

/// Why nothing more is written, if so.
#[derive(Default)]
pub(crate) struct Poison {
    /// Whether there is a reason. It stays.
    is_set: AtomicBool,
    cause: Mutex<Option<Cause>>,
}

/// Why an operation failed in the middle: its text, and what the operating system said. The error itself goes to the caller of that operation.
#[derive(Clone, Debug)]
struct Cause {
    why: String,
    os_error: Option<i32>,
}

impl Poison {
    fn set(&self, cause: Cause) {
        *self.cause.lock() = Some(cause);
        self.is_set.store(true, Ordering::Release);
    }
}

impl Store {
    /// Lets nothing more be written.
    pub(crate) fn poison(&self, why: &(dyn StdError + 'static)) {
        let os_error = hyperslab_base::os_error(why).and_then(io::Error::raw_os_error);
        self.poison.set(Cause { why: why.to_string(), os_error });
    }

    /// As [`Store::poison`], after a panic.
    pub(crate) fn poison_by_panic(&self) {
        self.poison.set(Cause { why: "a thread panicked while it changed the file".into(), os_error: None });
    }

    /// Refuses to write to a file after an operation that failed in the middle.
    pub(crate) fn check_poison(&self) -> Result<()> {
        if !self.poison.is_set.load(Ordering::Acquire) {
            return Ok(());
        }
        match self.poison.cause.lock().clone() {
            Some(Cause { why, os_error }) => {
                Err(Error::Poisoned { why, source: os_error.map(io::Error::from_raw_os_error) })
            }
            None => Ok(()),
        }
    }
}
