//! A state that threads wait for, without the interpreter's lock.
//!
//! It belongs to the process that made it. A forked process neither changes it nor waits for it: a thread of the parent may have been in it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hyperslab::driver::cores::fork::Process;
use pyo3::prelude::*;

/// How long a thread waits before it asks whether signals came.
const STEP: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(crate) struct Monitor<T> {
    /// Held for a look at the state, or a change of it. Its holder waits for no other lock.
    state: Mutex<T>,
    changed: Condvar,
    process: Process,
}

impl<T: Send> Monitor<T> {
    /// Changes the state.
    pub(crate) fn change(&self, change: impl FnOnce(&mut T)) {
        if self.process.is_this() {
            change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }

    /// Waits until the state is as `is_right` says, which may change it then. Handlers of signals run meanwhile, and may end it by an exception.
    pub(crate) fn wait(&self, py: Python<'_>, mut is_right: impl FnMut(&mut T) -> bool + Send) -> PyResult<()> {
        if self.wait_at_most(Duration::ZERO, &mut is_right) {
            return Ok(());
        }
        while !py.detach(|| self.wait_at_most(STEP, &mut is_right)) {
            py.check_signals()?;
        }
        Ok(())
    }

    /// As [`Monitor::wait`], once the interpreter is gone.
    pub(crate) fn wait_alone(&self, mut is_right: impl FnMut(&mut T) -> bool) {
        while !self.wait_at_most(STEP, &mut is_right) {}
    }

    /// Whether the state became right in time.
    fn wait_at_most(&self, time: Duration, is_right: &mut impl FnMut(&mut T) -> bool) -> bool {
        if !self.process.is_this() {
            return true;
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, time, |state| !is_right(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}
