//! Work that a fork waits for.

use std::marker::PhantomData;

use super::{state, wait};

/// Work that a fork waits for, until this is dropped.
#[derive(Debug)]
pub struct Hold {
    /// It belongs to the thread that made it.
    _own: PhantomData<*const ()>,
}

/// Holds off forks; waits while the process is being forked. What runs under it must not wait for a thread that forks.
///
/// ```
/// let held = hyperslab_driver::cores::fork::hold();
/// // read, write, take locks
/// drop(held);
/// ```
pub fn hold() -> Hold {
    wait::watch();
    while !state::enter() {
        wait::pause();
    }
    Hold { _own: PhantomData }
}

impl Drop for Hold {
    fn drop(&mut self) {
        state::leave();
    }
}
