//! Work that a fork waits for.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wait;

/// How many threads fork (upper half) and how many [`Hold`]s there are (lower half).
static STATE: AtomicU64 = AtomicU64::new(0);
const FORK: u64 = 1 << 32;

thread_local! {
    /// How many holds the thread has.
    static OWN: Cell<u32> = const { Cell::new(0) };
}

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
    let own = OWN.get();
    loop {
        let state = STATE.load(Ordering::SeqCst);
        // A fork that waits for this thread's other holds would wait for this one as well.
        let may = state < FORK || own > 0;
        if may && STATE.compare_exchange_weak(state, state + 1, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            OWN.set(own + 1);
            return Hold { _own: PhantomData };
        }
        if !may {
            wait::pause();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        OWN.set(OWN.get().saturating_sub(1));
        STATE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets holds of this thread begin at any time: a fork waits for the thread in another way, and for callers that wait for it.
pub(in crate::cores) fn exempt() {
    OWN.set(1);
}

/// From now on holds of other threads wait.
pub(super) fn begin_fork() {
    STATE.fetch_add(FORK, Ordering::SeqCst);
}

pub(super) fn end_fork() {
    STATE.fetch_sub(FORK, Ordering::SeqCst);
}

/// In the child, whose only thread this is.
pub(super) fn forget_others() {
    STATE.store(u64::from(OWN.get()), Ordering::SeqCst);
}

pub(super) fn is_forking() -> bool {
    STATE.load(Ordering::SeqCst) >= FORK
}

/// Whether no other thread has a hold.
pub(super) fn has_no_other() -> bool {
    STATE.load(Ordering::SeqCst) % FORK <= u64::from(OWN.get())
}
