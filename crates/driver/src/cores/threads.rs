//! The helper threads of the process, and what they may do next.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{env, process, ptr, thread};

use super::{Job, scope::Scope};

/// The address space that a thread takes for its heap and stack; where that is limited, not all of it is for threads.
const ROOM: u64 = 128 << 20;

/// The threads of this process, or of the one that it was forked from. Never freed. There is no lock: a child would find it locked forever if
/// another thread had it when the process was forked.
static THREADS: AtomicPtr<Threads> = AtomicPtr::new(ptr::null_mut());

/// Threads that help others, and have no work of their own.
pub(super) struct Threads {
    /// The process that has them: one that is forked from it has none of them.
    process: u32,
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
}

enum Entry {
    /// A call, and how many more may help with it.
    Call(Arc<Scope>, usize),
    Job(Job),
}

impl Threads {
    /// Those of this process. None if it has one core alone, or the system gave no thread.
    pub(super) fn of_process() -> Option<&'static Threads> {
        let known = THREADS.load(Ordering::Acquire);
        let threads = Threads::at(known).or_else(|| Threads::start(known))?;
        (threads.count() > 0).then_some(threads)
    }

    /// Those of this process, if it has started some.
    pub(super) fn started() -> Option<&'static Threads> {
        Threads::at(THREADS.load(Ordering::Acquire))
    }

    /// What [`THREADS`] points to, if that is of this process.
    fn at(known: *mut Threads) -> Option<&'static Threads> {
        #[expect(unsafe_code, reason = "shared without a lock, which would have to be safe across a fork")]
        // SAFETY: the pointer comes from `THREADS`, so it is null, or of a value that was made before and is never freed nor borrowed mutably.
        let threads = unsafe { known.as_ref() };
        threads.filter(|threads| threads.process == process::id())
    }

    /// Starts threads for this process. None if another thread just does: its are used from the next call on.
    fn start(known: *mut Threads) -> Option<&'static Threads> {
        let process = process::id();
        let new = Threads { process, count: AtomicUsize::new(0), queue: Mutex::default(), more: Condvar::new() };
        let new = ptr::from_mut(Box::leak(Box::new(new)));
        THREADS.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire).ok()?;
        let threads = Threads::at(new)?;
        for number in 1..wanted() {
            let named = thread::Builder::new().name(format!("hyperslab {number}"));
            if named.spawn(|| threads.serve()).is_err() {
                break;
            }
            threads.count.store(number, Ordering::Relaxed);
        }
        Some(threads)
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

    fn serve(&self) {
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
            match queue.entries.pop_front() {
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
