//! The work of one call, which helper threads enter and leave.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::shared_lock::SharedLock;

/// What threads do together, each by calling it once.
pub(super) type Work<'a> = dyn Fn() + Sync + 'a;

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

impl Scope {
    /// Lets helpers enter, until the scope is [closed](Self::close).
    pub(super) fn open(&self, work: &'static Work<'static>) {
        let mut state = self.lock();
        (state.work, state.holds) = (Some(work), SharedLock::is_held());
    }

    /// Takes the work away, and waits until the last helper has left.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.work = None;
        while state.inside > 0 {
            state = self.empty.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The panic of a helper, if one had one.
    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.lock().panic.take()
    }

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
