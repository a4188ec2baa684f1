//! Work that waits for storage, several at once.
//!
//! Lives here: [`all`], and the threads it uses. Does not live here: what runs. Called by `concurrent`, and by drivers with
//! independent work inside one request.
//!
//! Every call has threads of its own. Those of a pool are also wanted by others: a request whose helpers have not begun would
//! wait for workers who, below a page buffer, may be waiting for the very page that this request is loading.

use std::collections::{BTreeMap, VecDeque};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

/// Threads mostly wait here, so there are more than cores: enough to keep a storage with some milliseconds of latency busy.
const THREADS: usize = 32;

/// One piece of work.
pub(crate) type Job<'env, E> = Box<dyn FnOnce() -> Result<(), E> + Send + 'env>;

/// Does all jobs, at once as far as there are threads, and returns the error of the first job that has one.
///
/// The caller works along, so a single job costs no thread. It starts one helper, and each thread that begins to help starts two more
/// while jobs are left: jobs that wait soon all run, and jobs that are over at once cost hardly a thread.
pub(crate) fn all<E: Send>(jobs: Vec<Job<'_, E>>) -> Result<(), E> {
    let left =
        Left { helpers: jobs.len().min(THREADS).saturating_sub(1), jobs: jobs.into_iter().enumerate().collect() };
    let work = Work { left: Mutex::new(left), errors: Mutex::default() };
    thread::scope(|scope| work.drain(scope, 1));
    let errors = work.errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.into_values().next().map_or(Ok(()), Err)
}

/// Jobs not yet begun, and what went wrong with those that are done.
struct Work<'env, E> {
    left: Mutex<Left<'env, E>>,
    errors: Mutex<BTreeMap<usize, E>>,
}

struct Left<'env, E> {
    jobs: VecDeque<(usize, Job<'env, E>)>,
    /// How many more may help.
    helpers: usize,
}

impl<'env, E: Send> Work<'env, E> {
    /// Starts so many helpers, as far as there is work for them, and does jobs until none is left to begin.
    fn drain<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, helpers: usize) {
        let mut next = self.left().jobs.pop_front();
        let mut started = Vec::new();
        for _ in 0..helpers {
            if !self.may_help() {
                break;
            }
            // If the system gives no thread, those that there are do the work.
            let Ok(helper) = thread::Builder::new().spawn_scoped(scope, || self.drain(scope, 2)) else { break };
            started.push(helper);
        }
        while let Some((index, job)) = next {
            if let Err(error) = job() {
                self.errors.lock().unwrap_or_else(PoisonError::into_inner).insert(index, error);
            }
            next = self.left().jobs.pop_front();
        }
        // The scope waits for their work only. A thread that is about to end may hold a lock of the allocator, which a child that is forked
        // just then would find locked forever.
        for helper in started {
            if let Err(panic) = helper.join() {
                resume_unwind(panic);
            }
        }
    }

    /// Whether there is a job for another helper, who from now on counts.
    fn may_help(&self) -> bool {
        let mut left = self.left();
        let may = left.helpers > 0 && !left.jobs.is_empty();
        left.helpers -= usize::from(may);
        may
    }

    fn left(&self) -> MutexGuard<'_, Left<'env, E>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_single_job_runs_on_the_thread_that_asks() {
        let (mut ran, here) = (None, thread::current().id());
        all(vec![Box::new(|| -> Result<(), ()> {
            ran = Some(thread::current().id());
            Ok(())
        })])
        .unwrap();
        assert_eq!(ran, Some(here));
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
