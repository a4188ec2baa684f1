//! Work in the background, and processes that are forked: a child has no other threads than the one that forked it, and would wait forever for what
//! they began. So a fork waits until all work in the background has ended. It is short. Work that no thread has begun is dropped.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::threads::Threads;

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static FORKING: AtomicBool = AtomicBool::new(false);

/// Work in the background, until this is dropped.
pub(super) struct Job(());

impl Job {
    /// Nothing while the process is forked.
    pub(super) fn begin() -> Option<Job> {
        watch();
        // First it is said, then asked; who forks does it the other way round, so one of them sees the other.
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let job = Job(());
        (!FORKING.load(Ordering::SeqCst)).then_some(job)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Before the process is forked.
extern "C" fn before() {
    FORKING.store(true, Ordering::SeqCst);
    while RUNNING.load(Ordering::SeqCst) > 0 {
        Threads::started().into_iter().for_each(Threads::forget_jobs);
        thread::sleep(Duration::from_micros(50));
    }
}

/// Afterwards, in both.
extern "C" fn after() {
    FORKING.store(false, Ordering::SeqCst);
}

#[cfg(unix)]
fn watch() {
    static WATCHED: Once = Once::new();
    #[expect(unsafe_code, reason = "nobody but the system knows when a process is forked")]
    WATCHED.call_once(|| {
        // SAFETY: the functions live as long as the process, do not panic, and take locks that are held for a few steps alone.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
}

#[cfg(not(unix))]
fn watch() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_waits_for_work_and_work_does_not_begin_meanwhile() {
        let job = Job::begin();
        assert!(job.is_some());
        let waits = thread::spawn(|| before());
        while !FORKING.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        assert!(Job::begin().is_none() && !waits.is_finished());
        drop(job);
        waits.join().unwrap();
        after();
        assert!(Job::begin().is_some());
    }
}
