//! Jobs that work for a cache in the background.

use std::sync::Arc;

use hyperslab_driver::cores;
use parking_lot::{Condvar, Mutex};

use super::ChunkCache;

/// The jobs of a cache.
#[derive(Clone, Default)]
pub(super) struct Workers(Arc<(Mutex<Jobs>, Condvar)>);

#[derive(Default)]
struct Jobs {
    /// How many are not over.
    count: usize,
    /// Those that may not have begun.
    spawned: Vec<cores::Job>,
}

impl Workers {
    /// Counts a job, until the result is dropped.
    pub(super) fn begin(&self) -> Worker {
        self.0.0.lock().count += 1;
        Worker(self.clone())
    }

    /// Keeps hold of a job, so that it can be cancelled.
    pub(super) fn keep(&self, job: Option<cores::Job>) {
        let spawned = &mut self.0.0.lock().spawned;
        spawned.retain(|job| !job.is_begun());
        spawned.extend(job);
    }
}

/// A job, until this is dropped.
pub(super) struct Worker(Workers);

impl Drop for Worker {
    fn drop(&mut self) {
        let (jobs, ended) = &*self.0.0;
        jobs.lock().count -= 1;
        ended.notify_all();
    }
}

/// A file is closed when no job uses it any more. Jobs that have not begun are dropped: their threads may be busy for long.
impl Drop for ChunkCache {
    fn drop(&mut self) {
        let (jobs, ended) = &*self.workers.0;
        // Not under the lock: a job that is dropped takes it.
        let spawned = std::mem::take(&mut jobs.lock().spawned);
        spawned.iter().for_each(cores::Job::cancel);
        let mut jobs = jobs.lock();
        while jobs.count > 0 {
            ended.wait(&mut jobs);
        }
    }
}
