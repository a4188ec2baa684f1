//! Which process something belongs to.

use std::sync::atomic::{AtomicU32, Ordering};

use super::wait;

/// How many forks lie between this process and the first one.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// The last generation that began while other threads were inside the engine; 0 if there is none.
static TORN: AtomicU32 = AtomicU32::new(0);

/// The process that something was made in: this one, or one that it was forked from. Costs no call of the system, and unlike numbers of
/// processes it is not used twice.
///
/// ```
/// use hyperslab_driver::cores::fork::Process;
/// assert!(Process::this().is_this());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// This process.
    #[must_use]
    pub fn this() -> Process {
        wait::watch();
        Process(GENERATION.load(Ordering::Relaxed))
    }

    /// Whether it is this process. What belongs to another one was inherited.
    #[must_use]
    pub fn is_this(self) -> bool {
        self.0 == GENERATION.load(Ordering::Relaxed)
    }

    /// Whether a fork since then did not wait to the end: locks of what belongs to the process may be locked forever.
    #[must_use]
    pub fn is_torn(self) -> bool {
        self.0 < TORN.load(Ordering::Relaxed)
    }
}

impl Default for Process {
    fn default() -> Process {
        Process::this()
    }
}

/// In the child: it is a process of its own. Its fork may have been too late, with other threads inside the engine.
pub(super) fn begin(is_late: bool) {
    let generation = GENERATION.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    if is_late {
        TORN.store(generation, Ordering::SeqCst);
    }
}
