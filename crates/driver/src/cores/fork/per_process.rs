//! Values of which each process has its own.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::Process;

/// A value that each process makes for itself, also one that was forked. There is no lock before it: a child would find that locked forever if
/// another thread had it when the process was forked. Values are never freed.
///
/// ```
/// use hyperslab_driver::cores::fork::PerProcess;
/// static NAMES: PerProcess<std::sync::Mutex<Vec<String>>> = PerProcess::new();
/// NAMES.get_or_default().lock().unwrap().push("first".into());
/// assert_eq!(NAMES.get().unwrap().lock().unwrap().len(), 1);
/// ```
#[derive(Debug)]
pub struct PerProcess<T: 'static>(AtomicPtr<(Process, T)>);

impl<T: Send + Sync> PerProcess<T> {
    /// No process has a value yet.
    #[must_use]
    pub const fn new() -> Self {
        PerProcess(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value of this process, if it has one.
    pub fn get(&self) -> Option<&'static T> {
        PerProcess::of_this(self.0.load(Ordering::Acquire))
    }

    /// The value of this process.
    pub fn get_or_default(&self) -> &'static T
    where
        T: Default,
    {
        self.get().unwrap_or_else(|| self.get_or_set(T::default()).0)
    }

    /// The value of this process, which becomes `new` if there is none; and whether it is `new`.
    pub fn get_or_set(&self, new: T) -> (&'static T, bool) {
        let new: &'static (Process, T) = Box::leak(Box::new((Process::this(), new)));
        let mut known = self.0.load(Ordering::Acquire);
        loop {
            if let Some(kept) = PerProcess::of_this(known) {
                return (kept, false);
            }
            let pointer = ptr::from_ref(new).cast_mut();
            match self.0.compare_exchange(known, pointer, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return (&new.1, true),
                Err(other) => known = other,
            }
        }
    }

    fn of_this(known: *mut (Process, T)) -> Option<&'static T> {
        #[expect(unsafe_code, reason = "shared without a lock, which would have to be safe across a fork")]
        // SAFETY: the pointer is null, or of a value that was leaked before it was published, and is never freed nor borrowed mutably.
        let kept = unsafe { known.as_ref() };
        kept.filter(|(process, _)| process.is_this()).map(|(_, value)| value)
    }
}

impl<T: Send + Sync> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}
