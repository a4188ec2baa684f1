//! Which process something belongs to.

use super::{state, wait};

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
        Process(state::generation())
    }

    /// Whether it is this process. What belongs to another one was inherited.
    #[must_use]
    pub fn is_this(self) -> bool {
        self.0 == state::generation()
    }

    /// Whether a fork since then did not wait to the end: locks of what belongs to the process may be locked forever.
    #[must_use]
    pub fn is_torn(self) -> bool {
        self.0 < state::torn()
    }
}

impl Default for Process {
    fn default() -> Process {
        Process::this()
    }
}
