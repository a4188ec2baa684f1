//! How many threads hold off forks, how many fork, and how many forks lie behind this process.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many threads fork (upper half) and how many holds there are (lower half).
static HOLDS: AtomicU64 = AtomicU64::new(0);
const FORK: u64 = 1 << 32;

/// How many forks lie between this process and the first one.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// The last generation that began while other threads were inside the engine; 0 if there is none.
static TORN: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// How many holds the thread has.
    static OWN: Cell<u32> = const { Cell::new(0) };
}

/// Counts a hold of this thread, unless the process is being forked; whether it did. A fork that waits for other holds of this thread would wait
/// for this one as well.
pub(super) fn enter() -> bool {
    let own = OWN.get();
    let more = |state: u64| (state < FORK || own > 0).then_some(state + 1);
    let entered = HOLDS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok();
    if entered {
        OWN.set(own + 1);
    }
    entered
}

/// Ends what [`enter`] began.
pub(super) fn leave() {
    OWN.set(OWN.get().saturating_sub(1));
    HOLDS.fetch_sub(1, Ordering::SeqCst);
}

/// Lets holds of this thread begin at any time: a fork waits for the thread in another way, and for callers that wait for it.
pub(in crate::cores) fn exempt() {
    OWN.set(1);
}

/// From now on holds of other threads wait.
pub(super) fn begin_fork() {
    HOLDS.fetch_add(FORK, Ordering::SeqCst);
}

pub(super) fn end_fork() {
    HOLDS.fetch_sub(FORK, Ordering::SeqCst);
}

pub(super) fn is_forking() -> bool {
    HOLDS.load(Ordering::SeqCst) >= FORK
}

/// Whether no other thread has a hold.
pub(super) fn has_no_other() -> bool {
    HOLDS.load(Ordering::SeqCst) % FORK <= u64::from(OWN.get())
}

/// In the child, whose only thread this is: it is a process of its own. Its fork may have been too late, with other threads inside the engine.
pub(super) fn begin_child(is_late: bool) {
    let generation = GENERATION.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    if is_late {
        TORN.store(generation, Ordering::SeqCst);
    }
    HOLDS.store(u64::from(OWN.get()), Ordering::SeqCst);
}

pub(super) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

pub(super) fn torn() -> u32 {
    TORN.load(Ordering::Relaxed)
}
