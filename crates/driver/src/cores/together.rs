//! Work that borrows from its caller, with the help of other threads.

use std::panic::resume_unwind;
use std::sync::Arc;

use super::{
    scope::{Scope, Work},
    threads::Threads,
};

/// Calls `work` on this thread, and on up to so many others that have nothing else to do before this one is done. Returns when all that
/// called it have come back.
pub(super) fn run(helpers: usize, work: &Work<'_>) {
    let scope = Arc::new(Scope::default());
    let open = Open(&scope);
    #[expect(unsafe_code, reason = "threads that live on can borrow from a caller that waits for them in no other way")]
    // SAFETY: the reference is kept in the scope alone. A helper copies it there under the lock, counts itself as inside, and uses the copy
    // no more when it has counted itself out. `Open` is dropped before this function returns or unwinds, thus while `work` is borrowed: it
    // takes the reference away and waits until no thread is inside. So no thread uses it afterwards.
    let lasting = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
    scope.open(lasting);
    let threads = Threads::of_process();
    if let Some(threads) = threads {
        threads.offer(&scope, helpers);
    }
    work();
    drop(open);
    if let Some(threads) = threads {
        threads.withdraw(&scope);
    }
    if let Some(panic) = scope.take_panic() {
        resume_unwind(panic);
    }
}

/// A scope that helpers may enter, until this is dropped.
struct Open<'a>(&'a Scope);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
