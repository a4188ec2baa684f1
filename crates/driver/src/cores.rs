//! Work for all cores.
//!
//! Lives here: the threads for it, as many as the process may have. Does not live here: work that waits for storage (`pool`). Called by
//! `chunk` and `hyperslab`.

mod fork;

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, mem, process, thread};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The address space that a thread takes for its heap and stack; where that is limited, not all of it is for threads.
const ROOM: u64 = 128 << 20;

/// The threads, and the process that has them: one that was forked from it has none.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does `work`, whose parallel iterators of `rayon` then use all cores. Those of a caller's own pool stay in it. Never fails: where the
/// system gives no threads, the caller does the work alone.
///
/// ```
/// use rayon::prelude::*;
/// let sum: u64 = hyperslab_driver::cores::run(|| (0..1000u64).into_par_iter().sum());
/// assert_eq!(sum, 499_500);
/// ```
pub fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() {
        return work();
    }
    match pool() {
        Some(pool) => pool.install(work),
        None => alone(work),
    }
}

/// Does `work` on some core while the caller goes on; not at all if there is only one, or the process is about to be forked. It must wait for
/// nobody who waits for other work: others wait for its thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> bool {
    let (Some(pool), Some(job)) = (pool().filter(|pool| pool.current_num_threads() > 1), fork::Job::begin()) else {
        return false;
    };
    pool.spawn(move || {
        let _job = job;
        work();
    });
    true
}

/// How many threads [`run`] uses.
pub fn count() -> usize {
    match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => pool().map_or(1, |pool| pool.current_num_threads()),
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = kept.as_ref().filter(|(owner, _)| *owner == process::id()) {
        return Some(pool.clone());
    }
    let pool = Arc::new(most(wanted(), |threads| ThreadPoolBuilder::new().num_threads(threads).build().ok())?);
    // One of another process has no threads that could be told to end.
    mem::forget(kept.replace((process::id(), pool.clone())));
    Some(pool)
}

/// What can be made with as many threads as the system gives, at most so many.
fn most<P>(mut threads: usize, make: impl Fn(usize) -> Option<P>) -> Option<P> {
    while threads > 0 {
        if let Some(made) = make(threads) {
            return Some(made);
        }
        threads /= 2;
    }
    None
}

/// As many threads as cores, or as the variable says that `rayon` has for this; fewer in a small address space.
fn wanted() -> usize {
    let named = env::var("RAYON_NUM_THREADS").ok().and_then(|threads| threads.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let most = usize::try_from(address_space() / ROOM).unwrap_or(usize::MAX);
    named.filter(|&threads| threads > 0).unwrap_or_else(cores).min(most).max(1)
}

#[cfg(target_os = "linux")]
fn address_space() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current.unwrap_or(u64::MAX)
}

#[cfg(not(target_os = "linux"))]
fn address_space() -> u64 {
    u64::MAX
}

/// Makes the calling thread a pool of its own, so that parallel iterators ask for no other.
fn alone<R>(work: impl FnOnce() -> R) -> R {
    let own = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    // It is the thread's as long as that lives.
    own.into_iter().for_each(mem::forget);
    work()
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn fewer_threads_are_asked_for_until_there_are_some() {
        assert_eq!(most(96, |threads| (threads < 10).then_some(threads)), Some(6));
        assert_eq!(most(1, |_| None::<()>), None);
    }

    #[test]
    fn a_thread_that_is_alone_does_all_work() {
        let here = thread::current().id();
        for _ in 0..2 {
            let all: Vec<_> = alone(|| (0..100).into_par_iter().map(|_| thread::current().id()).collect());
            assert!(all.iter().all(|&thread| thread == here));
            assert_eq!(count(), 1);
        }
    }
}
