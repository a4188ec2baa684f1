//! Whether a thread holds a lock that others share with it.
//!
//! A thread that waits behind a writer, while it holds the lock that the writer waits for, waits forever. So a thread that holds a shared lock
//! passes writers that wait when it asks again; one that holds none waits behind them, or they would never get their turn. A helper that runs items
//! of a call counts what the caller holds as its own: the caller waits for it.

use std::{cell::Cell, marker::PhantomData};

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Says that this thread holds a shared lock, until it is dropped.
#[derive(Debug)]
pub struct SharedLock {
    /// It stays on its thread.
    _thread: PhantomData<*const ()>,
}

impl SharedLock {
    /// Whether this thread holds one, or a thread that waits for its items.
    ///
    /// ```
    /// use hyperslab_driver::cores::{self, SharedLock};
    /// assert!(!SharedLock::is_held());
    /// let _held = SharedLock::new();
    /// assert_eq!(cores::map(vec![1, 2], |_: &mut (), _| Ok::<_, ()>(SharedLock::is_held())), Ok(vec![true, true]));
    /// ```
    #[inline]
    pub fn is_held() -> bool {
        HELD.get() > 0
    }

    /// From now on it is held.
    #[inline]
    #[expect(clippy::new_without_default, reason = "it counts")]
    pub fn new() -> SharedLock {
        HELD.set(HELD.get() + 1);
        SharedLock { _thread: PhantomData }
    }
}

impl Drop for SharedLock {
    #[inline]
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}
