//! The helper threads of the process, and what they may do next.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{env, thread};

use super::{
    Job,
    fork::{self, PerProcess},
    scope::Scope,
};

/// The address space that a thread takes for its heap and stack; where that is limited, not all of it is for threads.
const ROOM: u64 = 128 << 20;

/// A process that is forked has none of its parent's, and starts its own.
static THREADS: PerProcess<Threads> = PerProcess::new();

/// Threads that help others, and have no work of their own.
#[derive(Default)]
pub(super) struct Threads {
    count: AtomicUsize,
    queue: Mutex<Queue>,
    /// There is something to do.
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    /// What to do next, first come, first served.
    entries: VecDeque<Entry>,
    /// How many threads wait for something.
    idle: usize,
    /// How many threads fork the process: nothing is taken meanwhile.
    forks: usize,
}

enum Entry {
    /// A call, and how many more may help with it.
    Call(Arc<Scope>, usize),
    Job(Job),
}

impl Threads {
    /// Those of this process. None if it has one core alone, or the system gave no thread.
    pub(super) fn of_process() -> Option<&'static Threads> {
        let threads = THREADS.get().unwrap_or_else(Threads::start);
        (threads.count() > 0).then_some(threads)
    }

    /// Those of this process, if it has started some.
    pub(super) fn started() -> Option<&'static Threads> {
        THREADS.get()
    }

    /// Starts threads for this process, unless another thread just does: those that it has started so far are used then.
    fn start() -> &'static Threads {
        let (threads, is_new) = THREADS.get_or_set(Threads::default());
        for number in 1..if is_new { wanted() } else { 0 } {
            let named = thread::Builder::new().name(format!("hyperslab {number}"));
            if named.spawn(|| threads.serve()).is_err() {
                break;
            }
            threads.count.store(number, Ordering::Relaxed);
        }
        threads
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Lets up to so many threads help with a call.
    pub(super) fn offer(&self, scope: &Arc<Scope>, helpers: usize) {
        let mut queue = self.lock();
        queue.entries.push_back(Entry::Call(scope.clone(), helpers));
        let woken = queue.idle.min(helpers);
        drop(queue);
        (0..woken).for_each(|_| self.more.notify_one());
    }

    /// Takes back what is left of an offer.
    pub(super) fn withdraw(&self, scope: &Arc<Scope>) {
        self.lock().entries.retain(|entry| !matches!(entry, Entry::Call(other, _) if Arc::ptr_eq(other, scope)));
    }

    /// Lets a thread do a job when it comes to it.
    pub(super) fn push(&self, job: Job) {
        let mut queue = self.lock();
        queue.entries.push_back(Entry::Job(job));
        let is_awaited = queue.idle > 0;
        drop(queue);
        if is_awaited {
            self.more.notify_one();
        }
    }

    /// Forgets the jobs that no thread has begun.
    pub(super) fn forget_jobs(&self) {
        let mut queue = self.lock();
        let (jobs, calls): (Vec<_>, _) = queue.entries.drain(..).partition(|entry| matches!(entry, Entry::Job(_)));
        queue.entries = calls.into();
        drop(queue);
        jobs.iter().for_each(|entry| {
            if let Entry::Job(job) = entry {
                job.cancel()
            }
        });
    }

    /// Has the threads take nothing new, until the process is forked.
    pub(super) fn freeze(&self) {
        self.lock().forks += 1;
    }

    /// Ends what [`freeze`](Self::freeze) began.
    pub(super) fn thaw(&self) {
        let mut queue = self.lock();
        queue.forks = queue.forks.saturating_sub(1);
        drop(queue);
        self.more.notify_all();
    }

    /// Whether all threads wait for something. One that has begun or ended just now may hold a lock, of the allocator for example.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().idle >= self.count()
    }

    fn serve(&self) {
        fork::exempt();
        loop {
            match self.next() {
                Entry::Call(scope, _) => scope.help(),
                Entry::Job(job) => job.run(),
            }
        }
    }

    /// What comes next. Calls take turns, so that each gets some help.
    fn next(&self) -> Entry {
        let mut queue = self.lock();
        loop {
            let next = if queue.forks == 0 { queue.entries.pop_front() } else { None };
            match next {
                Some(Entry::Call(scope, helpers)) => {
                    if helpers > 1 {
                        queue.entries.push_back(Entry::Call(scope.clone(), helpers - 1));
                    }
                    return Entry::Call(scope, helpers);
                }
                Some(job) => return job,
                None => {
                    queue.idle += 1;
                    queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    queue.idle -= 1;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As many threads as cores, the calling one included, or as the variable says that `rayon` has for this: who limits the one, limits the
/// other. Fewer in a small address space.
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
