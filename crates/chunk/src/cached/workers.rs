//! Who works for a cache in the background.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::ChunkCache;

/// How many work for a cache in the background.
#[derive(Clone, Default)]
pub(super) struct Workers(Arc<(Mutex<usize>, Condvar)>);

impl Workers {
    /// Somebody begins.
    pub(super) fn begin(&self) -> Worker {
        *self.0.0.lock() += 1;
        Worker(self.clone())
    }
}

/// One of them, until this is dropped.
pub(super) struct Worker(Workers);

impl Drop for Worker {
    fn drop(&mut self) {
        let (count, ended) = &*self.0.0;
        *count.lock() -= 1;
        ended.notify_all();
    }
}

/// A file is closed when nobody uses it any more.
impl Drop for ChunkCache {
    fn drop(&mut self) {
        let (count, ended) = &*self.workers.0;
        let mut count = count.lock();
        while *count > 0 {
            ended.wait(&mut count);
        }
    }
}
