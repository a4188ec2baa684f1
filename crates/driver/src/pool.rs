//! The threads that wait for storage.
//!
//! Lives here: one pool for the whole process, made on first use, with more threads than cores, since they mostly wait. Does
//! not live here: what runs on it. Called by `concurrent` and by drivers with independent work inside one request.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Enough to keep a storage with some milliseconds of latency busy.
const THREADS: usize = 32;

/// The pool, or `None` if the system gives no threads; work then runs on the caller's.
pub(crate) fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || {
        let named = ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|index| format!("hyperslab-io-{index}"));
        named.build().ok()
    };
    POOL.get_or_init(make).as_ref()
}
