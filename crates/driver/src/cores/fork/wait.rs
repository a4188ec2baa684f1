//! Before and after a fork.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::state;
use crate::cores::threads::Threads;

/// Jobs in the background that are not over.
static JOBS: AtomicUsize = AtomicUsize::new(0);

/// How long a fork waits for work that does not end. It goes on then, and the child knows it: see [`Process::is_torn`](super::Process::is_torn).
const PATIENCE: Duration = Duration::from_secs(30);

thread_local! {
    /// Whether the fork of this thread did not wait to the end.
    static IS_LATE: Cell<bool> = const { Cell::new(false) };
    /// What the fork of this thread froze.
    static FROZEN: Cell<Option<&'static Threads>> = const { Cell::new(None) };
}

/// Work in the background, until this is dropped.
pub(in crate::cores) struct Job(());

impl Job {
    /// Nothing while the process is forked.
    pub(in crate::cores) fn begin() -> Option<Job> {
        watch();
        // First it is said, then asked; a thread that forks does it the other way round, so one of them sees the other.
        JOBS.fetch_add(1, Ordering::SeqCst);
        let job = Job(());
        (!state::is_forking()).then_some(job)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        JOBS.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) fn pause() {
    thread::sleep(Duration::from_micros(50));
}

/// Before the process is forked.
extern "C" fn before() {
    state::begin_fork();
    let (threads, end) = (Threads::started(), Instant::now() + PATIENCE);
    threads.into_iter().for_each(Threads::freeze);
    FROZEN.set(threads);
    let is_idle = || {
        // A thread that asked before the fork began may have pushed a job since the last look.
        threads.into_iter().for_each(Threads::forget_jobs);
        state::has_no_other() && JOBS.load(Ordering::SeqCst) == 0 && threads.is_none_or(Threads::is_idle)
    };
    IS_LATE.set(!wait_until(end, is_idle));
}

fn wait_until(end: Instant, is_so: impl Fn() -> bool) -> bool {
    while !is_so() {
        if Instant::now() > end {
            return false;
        }
        pause();
    }
    true
}

/// Afterwards, in the parent.
extern "C" fn after_in_parent() {
    IS_LATE.set(false);
    FROZEN.take().into_iter().for_each(Threads::thaw);
    state::end_fork();
}

/// Afterwards, in the child, whose only thread this is. The helper threads are its parent's.
extern "C" fn after_in_child() {
    FROZEN.set(None);
    JOBS.store(0, Ordering::SeqCst);
    state::begin_child(IS_LATE.replace(false));
}

/// Has the functions above called.
#[cfg(unix)]
pub(super) fn watch() {
    static WATCHED: Once = Once::new();
    #[expect(unsafe_code, reason = "only the system knows when a process is forked")]
    WATCHED.call_once(|| {
        // SAFETY: the functions live as long as the process, do not panic, and take locks that are held for a few steps alone.
        unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    });
}

#[cfg(not(unix))]
pub(super) fn watch() {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

    use super::super::hold::hold;
    use super::*;
    use crate::cores;

    /// The tests share what the process has once.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that waits before a fork, and ends it when it is told to.
    struct Fork {
        ends: mpsc::Sender<()>,
        is_ready: Arc<AtomicBool>,
        thread: thread::JoinHandle<()>,
    }

    impl Fork {
        fn begin() -> Fork {
            let ((ends, end), is_ready) = (mpsc::channel(), Arc::new(AtomicBool::new(false)));
            let thread = thread::spawn({
                let is_ready = is_ready.clone();
                move || {
                    before();
                    is_ready.store(true, Ordering::SeqCst);
                    end.recv().unwrap();
                    after_in_parent();
                }
            });
            while !state::is_forking() {
                thread::yield_now();
            }
            Fork { ends, is_ready, thread }
        }

        fn is_ready(&self) -> bool {
            self.is_ready.load(Ordering::SeqCst)
        }

        fn end(self) {
            self.ends.send(()).unwrap();
            self.thread.join().unwrap();
        }
    }

    #[test]
    fn a_fork_waits_for_jobs_and_none_begins_meanwhile() {
        let _alone = alone();
        let job = Job::begin();
        assert!(job.is_some());
        let fork = Fork::begin();
        assert!(Job::begin().is_none() && !fork.is_ready());
        drop(job);
        fork.end();
        assert!(Job::begin().is_some());
    }

    #[test]
    fn a_fork_waits_for_holds_and_new_ones_wait_for_it() {
        let _alone = alone();
        let held = hold();
        let fork = Fork::begin();
        let enters = thread::spawn(|| drop(hold()));
        // A thread that holds off the fork already is not held up itself.
        drop(hold());
        thread::sleep(Duration::from_millis(20));
        assert!(!enters.is_finished() && !fork.is_ready());
        drop(held);
        assert!(wait_until(Instant::now() + PATIENCE, || fork.is_ready()));
        thread::sleep(Duration::from_millis(20));
        assert!(!enters.is_finished());
        fork.end();
        enters.join().unwrap();
    }

    #[test]
    fn a_thread_that_forks_does_not_wait_for_itself() {
        let _alone = alone();
        let _held = hold();
        before();
        after_in_parent();
    }

    #[test]
    fn helper_threads_take_nothing_while_the_process_is_forked() {
        let _alone = alone();
        let sum =
            || cores::map((0..100).collect(), |_: &mut (), item: u64| Ok::<_, ()>(item)).unwrap().iter().sum::<u64>();
        assert_eq!(sum(), 4950);
        before();
        assert!(Threads::started().is_none_or(Threads::is_idle));
        // The caller does all by itself.
        assert_eq!(sum(), 4950);
        assert!(Threads::started().is_none_or(Threads::is_idle));
        after_in_parent();
        assert_eq!(sum(), 4950);
    }
}
