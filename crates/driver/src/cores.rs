//! Work for all cores: one request's items shared out, and jobs in the background.
//!
//! Lives here: the helper threads of the process, [`map`], which shares items out to them, and [`spawn`]. Does not live here: work that waits
//! for storage (`pool`). Called by `chunk` and `hyperslab`, also while they hold locks.
//!
//! ```text
//!  caller of map ──offers──► queue of the process ◄──takes── helper threads
//!       │                                                        │
//!       └──── items of this call, next first ◄── both take ──────┘
//! ```
//!
//! The rules that make this safe under any lock:
//!
//! - A thread that calls [`map`] runs items of this call and of no other. When none is left, it blocks until the helpers that began with
//!   items of this call are done. It never takes another task meanwhile, which could wait for a lock that this thread holds: a worker thread of
//!   a pool with work stealing, as of `rayon`, does that whenever it waits for tasks of its pool.
//! - No call waits for a helper that has not begun: if all helpers are busy, or wait for a lock, the caller does the items alone.
//!
//! So a call waits for nothing but its own items, which may call [`map`] again. Items must not wait for a lock that the caller holds.

mod background;
pub mod fork;
mod map;
mod scope;
mod shared_lock;
mod threads;
mod together;

use std::cell::Cell;

use self::threads::Threads;
pub use self::{
    background::{Job, spawn},
    map::map,
    shared_lock::SharedLock,
};

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// How many threads [`map`] uses, the calling one included.
pub fn count() -> usize {
    if ALONE.get() { 1 } else { 1 + Threads::of_process().map_or(0, Threads::count) }
}

/// Does `work` so that its calls of [`map`] use no other thread.
///
/// ```
/// use hyperslab_driver::cores;
/// assert_eq!(cores::alone(cores::count), 1);
/// ```
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    work()
}
