//! Work that waits for storage, several at once.
//!
//! Lives here: [`all`], and the threads it uses. Does not live here: what runs. Called by `concurrent`, and by drivers with
//! independent work inside one request.
//!
//! Threads mostly wait here, so there are more than cores, and none ever runs somebody else's work while it waits for its
//! own: a request that holds a page being loaded, say, must not find itself below another one that waits for that page. A
//! worker of rayon that waits for a scope does just that, so such a caller, and one that is already part of a request, gets
//! threads of its own.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Enough to keep a storage with some milliseconds of latency busy.
const THREADS: usize = 32;

/// One piece of work.
pub(crate) type Job<'env, E> = Box<dyn FnOnce() -> Result<(), E> + Send + 'env>;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Does all jobs, at once as far as there are threads, and returns the error of the first job that has one.
pub(crate) fn all<E: Send>(jobs: Vec<Job<'_, E>>) -> Result<(), E> {
    let helpers = jobs.len().saturating_sub(1).min(THREADS);
    let work = Work { left: Mutex::new(jobs.into_iter().enumerate().collect()), errors: Mutex::default() };
    let nested = INSIDE.get() || rayon::current_thread_index().is_some();
    match pool() {
        _ if helpers == 0 => work.drain(),
        Some(pool) if !nested => pool.in_place_scope(|scope| {
            (0..helpers).for_each(|_| scope.spawn(|_| work.drain()));
            work.drain();
        }),
        // If the system gives no thread, the caller does the work.
        _ => thread::scope(|scope| {
            let helper = || thread::Builder::new().spawn_scoped(scope, || work.drain());
            let _started = (0..helpers).map(|_| helper()).take_while(Result::is_ok).count();
            work.drain();
        }),
    }
    let errors = work.errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.into_values().next().map_or(Ok(()), Err)
}

/// Made on first use; `None` if the system gives no threads.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || {
        let named = ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|index| format!("hyperslab-io-{index}"));
        named.build().ok()
    };
    POOL.get_or_init(make).as_ref()
}

/// Jobs not yet begun, and what went wrong with those that are done.
struct Work<'env, E> {
    left: Mutex<VecDeque<(usize, Job<'env, E>)>>,
    errors: Mutex<BTreeMap<usize, E>>,
}

impl<E> Work<'_, E> {
    /// Does jobs until none is left to begin.
    fn drain(&self) {
        let outside = INSIDE.replace(true);
        while let Some((index, job)) = self.next() {
            if let Err(error) = job() {
                self.errors.lock().unwrap_or_else(PoisonError::into_inner).insert(index, error);
            }
        }
        INSIDE.set(outside);
    }

    fn next(&self) -> Option<(usize, impl FnOnce() -> Result<(), E>)> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn sleeping(depth: u32) -> Result<(), u32> {
        let jobs = (0..8).map(|_| -> Job<'_, u32> {
            Box::new(move || {
                if depth > 0 {
                    return sleeping(depth - 1);
                }
                thread::sleep(Duration::from_millis(5));
                Ok(())
            })
        });
        all(jobs.collect())
    }

    #[test]
    fn nested_work_does_not_wait_for_itself() {
        let begun = Instant::now();
        sleeping(2).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn the_first_error_in_order_wins() {
        let jobs = (0..20u64).map(|index| -> Job<'_, u64> {
            Box::new(move || {
                thread::sleep(Duration::from_millis(20 - index));
                if index % 7 == 6 { Err(index) } else { Ok(()) }
            })
        });
        assert_eq!(all(jobs.collect()), Err(6));
    }
}
