//! Files that threads are closing, so that the process does not end before they are closed.
//!
//! ```text
//!  closing thread   File ── Engine ───── engine closes ───── drop ── drop
//!  interpreter ends                     `wait_for_files` waits until here ┘
//!  interpreter is gone      `wait_for_engines` waits until here ┘
//! ```
//!
//! File objects are written by code of Python, which does not run any more when the interpreter is gone.

use hyperslab::driver::cores::fork::PerProcess;
use pyo3::prelude::*;

use crate::monitor::Monitor;

static UNDER_WAY: PerProcess<Monitor<UnderWay>> = PerProcess::new();

/// How many threads close files.
#[derive(Default)]
struct UnderWay {
    files: usize,
    /// Those of them that need no interpreter to go on.
    engines: usize,
}

/// A file that is being closed, until this is dropped.
pub(crate) struct Closing {
    monitor: &'static Monitor<UnderWay>,
    count: fn(&mut UnderWay) -> &mut usize,
}

impl Closing {
    /// A file, and what Python does for it.
    pub(crate) fn file() -> Closing {
        Closing::begin(|under_way| &mut under_way.files)
    }

    /// What the engine does with it.
    pub(crate) fn engine() -> Closing {
        Closing::begin(|under_way| &mut under_way.engines)
    }

    fn begin(count: fn(&mut UnderWay) -> &mut usize) -> Closing {
        let monitor = UNDER_WAY.get_or_default();
        monitor.change(|under_way| *count(under_way) += 1);
        Closing { monitor, count }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.monitor.change(|under_way| *(self.count)(under_way) -= 1);
    }
}

/// Waits until no thread closes a file.
pub(crate) fn wait_for_files(py: Python<'_>) -> PyResult<()> {
    UNDER_WAY.get_or_default().wait(py, |under_way| under_way.files == 0)
}

/// Waits until the engine closes no file.
pub(crate) fn wait_for_engines() {
    UNDER_WAY.get_or_default().wait_alone(|under_way| under_way.engines == 0);
}
