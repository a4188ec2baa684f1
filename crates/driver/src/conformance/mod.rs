//! What every driver must do, as a suite that any driver can be put through.
//!
//! Lives here: [`run`] and its verdict. Does not live here: speed. Called by the tests of this crate, and by those of anyone who
//! writes a driver; needs no test framework.

mod edges;
mod random;
mod selections;
mod threads;
mod twin;
mod workload;

use crate::{Driver, Error};

/// How much was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Requests whose outcome was compared.
    pub requests: u64,
    /// Bytes that were compared.
    pub bytes: u64,
}

/// The first thing that a driver did wrong.
#[derive(Debug, thiserror::Error)]
#[error("{check}, step {step}: {what}")]
pub struct Failure {
    /// Which check.
    pub check: &'static str,
    /// Which step of it; the suite does the same steps every time.
    pub step: u64,
    /// What was wrong.
    pub what: String,
}

/// Puts the drivers that `make` makes, each empty and new, through the whole suite.
///
/// ```
/// use hyperslab_driver::{Memory, conformance};
/// let report = conformance::run(Memory::new)?;
/// assert!(report.requests > 1000);
/// # Ok::<(), conformance::Failure>(())
/// ```
pub fn run<D: Driver>(make: impl Fn() -> D) -> Result<Report, Failure> {
    let mut report = Report::default();
    for (check, suite) in SUITES {
        suite(&make(), &mut report).map_err(|stop| Failure { check, step: report.requests, what: stop.0 })?;
    }
    Ok(report)
}

type Suite = fn(&dyn Driver, &mut Report) -> Result<(), Stop>;

const SUITES: [(&str, Suite); 4] = [
    ("edges", edges::check),
    ("bytes and vectors", workload::check),
    ("selections", selections::check),
    ("threads", threads::check),
];

/// Why a check stopped.
struct Stop(String);

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop(format!("unexpected error: {error}"))
    }
}

impl From<hyperslab_space::Error> for Stop {
    fn from(error: hyperslab_space::Error) -> Self {
        Stop(format!("the suite itself is wrong: {error}"))
    }
}

/// Stops unless `holds`.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop(what())) }
}
