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
