//! A lock that a thread may take again while it has it.

use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use crate::monitor::Monitor;

/// Code of Python may run under it, which may come back to what the lock guards. Threads wait for it without the interpreter's lock.
#[derive(Default)]
pub(crate) struct ReentrantLock(Monitor<Holder>);

#[derive(Default)]
struct Holder {
    thread: Option<ThreadId>,
    /// How many guards the thread has.
    depth: usize,
}

/// Has the lock until it is dropped.
pub(crate) struct ReentrantGuard<'a>(&'a ReentrantLock);

impl ReentrantLock {
    /// Waits until no other thread has the lock.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<ReentrantGuard<'_>> {
        let this = thread::current().id();
        self.0.wait(py, |holder| {
            let is_free = holder.thread.is_none_or(|thread| thread == this);
            if is_free {
                holder.thread = Some(this);
                holder.depth += 1;
            }
            is_free
        })?;
        Ok(ReentrantGuard(self))
    }

    /// Whether this thread has it.
    pub(crate) fn is_held(&self) -> bool {
        let mut is_held = false;
        self.0.change(|holder| is_held = holder.thread == Some(thread::current().id()));
        is_held
    }
}

impl Drop for ReentrantGuard<'_> {
    fn drop(&mut self) {
        self.0.0.change(|holder| {
            holder.depth -= 1;
            if holder.depth == 0 {
                holder.thread = None;
            }
        });
    }
}
