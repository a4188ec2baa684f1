//! Work that borrows from its caller, with the help of other threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{shared_lock::SharedLock, threads::Threads};

/// What threads do together, each by calling it once.
type Work<'a> = dyn Fn() + Sync + 'a;

/// One call's work, as long as the caller is there.
#[derive(Default)]
pub(super) struct Scope {
    state: Mutex<State>,
    /// The last helper has left.
    empty: Condvar,
}

#[derive(Default)]
struct State {
    /// None when the caller is about to leave.
    work: Option<&'static Work<'static>>,
    /// Whether the caller holds a shared lock.
    holds: bool,
    /// How many helpers are at it.
    inside: usize,
    /// The panic of the first helper that had one.
    panic: Option<Box<dyn Any + Send>>,
}

/// Calls `work` on this thread, and on up to so many others that have nothing else to do before this one is done. Returns when all that
/// called it have come back.
pub(super) fn run(helpers: usize, work: &Work<'_>) {
    let scope = Arc::new(Scope::default());
    let open = Open(&scope);
    #[expect(unsafe_code, reason = "threads that live on can borrow from a caller that waits for them in no other way")]
    // SAFETY: the reference is kept in `state.work` alone. A helper copies it there under the lock, counts itself as inside, and uses the copy
    // no more when it has counted itself out. `Open` is dropped before this function returns or unwinds, thus while `work` is borrowed: it
    // takes the reference away and waits until no thread is inside. So no thread uses it afterwards.
    let lasting = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
    {
        let mut state = scope.lock();
        (state.work, state.holds) = (Some(lasting), SharedLock::is_held());
    }
    let threads = Threads::of_process();
    if let Some(threads) = threads {
        threads.offer(&scope, helpers);
    }
    work();
    drop(open);
    if let Some(threads) = threads {
        threads.withdraw(&scope);
    }
    let panic = scope.lock().panic.take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// A scope that helpers may enter, until this is dropped.
struct Open<'a>(&'a Scope);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.work = None;
        while state.inside > 0 {
            state = self.0.empty.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Scope {
    /// Takes part in the work, on the thread of a helper, unless the caller is about to leave.
    pub(super) fn help(&self) {
        let mut state = self.lock();
        let Some(work) = state.work else { return };
        state.inside += 1;
        let _holds = state.holds.then(SharedLock::new);
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let mut state = self.lock();
        state.inside -= 1;
        if let Err(panic) = outcome {
            state.panic.get_or_insert(panic);
        }
        if state.inside == 0 {
            self.empty.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
