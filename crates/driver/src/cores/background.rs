//! Work that is done while its caller goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::{fork, threads::Threads};

type Work = Box<dyn FnOnce() + Send>;

/// A job in the background, from [`spawn`].
#[derive(Clone)]
pub struct Job(Arc<Mutex<Option<Work>>>);

/// Does `work` on some core while the caller goes on; not at all if there is only one, or the process is about to be forked: `work` is dropped
/// then. A thread that waits for the end of `work` must [cancel](Job::cancel) it first: all helper threads may be busy for long.
///
/// `work` may wait for locks: no call of [`map`](super::map) waits for its thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Option<Job> {
    let (threads, running) = (Threads::of_process()?, fork::Job::begin()?);
    let work = move || {
        let _running = running;
        work();
    };
    let job = Job(Arc::new(Mutex::new(Some(Box::new(work)))));
    threads.push(job.clone());
    Some(job)
}

impl Job {
    /// Drops the work if no thread has begun with it.
    pub fn cancel(&self) {
        drop(self.take());
    }

    /// Whether a thread has begun with it, or it was cancelled.
    pub fn is_begun(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Does the work, unless it was cancelled. A panic in it ends it, and was told on standard error; the thread lives on.
    pub(super) fn run(self) {
        if let Some(work) = self.take() {
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }

    fn take(&self) -> Option<Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("is_begun", &self.is_begun()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;
    use crate::cores::{count, map};

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn nothing_waits_for_helper_threads_that_are_busy() {
        let (release, released) = channel::<()>();
        let released = Arc::new(Mutex::new(released));
        // Other tests of this process may have some of the threads, too.
        let busy: Vec<_> = (1..count())
            .filter_map(|_| {
                let released = released.clone();
                spawn(move || released.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap_or_default())
            })
            .collect();
        let doubled = map((0..1000).collect(), |_: &mut (), item: usize| Ok::<_, ()>(item * 2));
        assert_eq!(doubled, Ok((0..1000).map(|item| item * 2).collect()));
        let (begun, begins) = channel();
        if let Some(job) = spawn(move || begun.send(()).unwrap_or_default()) {
            // Its sender is dropped with it.
            job.cancel();
            assert!(job.is_begun() && begins.recv_timeout(PATIENCE).is_err());
        }
        drop(release);
        busy.iter().for_each(Job::cancel);
    }

    #[test]
    fn a_job_is_done_and_a_panic_in_it_costs_no_thread() {
        for _ in 0..3 * count() {
            let Some(_) = spawn(|| panic!("as it should be")) else { return };
        }
        let (done, is_done) = channel();
        if spawn(move || done.send(7).unwrap_or_default()).is_some() {
            assert_eq!(is_done.recv_timeout(PATIENCE), Ok(7));
        }
    }
}
