//! Requests at once: the document's `COBEGIN` and `COEND` (2.5.2) as a scope.
//!
//! Lives here: [`concurrently`]. Does not live here: the threads (`pool`). Called by drivers that parcel a request out to
//! several others, and by the engine.

use crate::pool::{self, Job};
use crate::{CtlFlags, CtlOp, Driver, Error, Result};

const FLAGS: CtlFlags = CtlFlags::IGNORE_IF_UNKNOWN.union(CtlFlags::ROUTE_TO_TERMINAL);

/// Runs the requests issued in `body` at once and returns when all are complete.
///
/// Every driver used gets `COBEGIN` before its first request and `COEND` after the last of all. The result is the first
/// error in order of issue; the other requests run to their end all the same.
///
/// **Hold no lock across this call** that a request may want: requests run on other threads, and this one waits for them.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, Transfer, concurrently};
/// let (left, right) = (Memory::from(b"left".to_vec()), Memory::from(b"right".to_vec()));
/// let (mut a, mut b) = ([0; 4], [0; 5]);
/// concurrently(|co| {
///     co.issue(&left, |driver| driver.read_at(0, &mut a, &Transfer::default()));
///     co.issue(&right, |driver| driver.read_at(0, &mut b, &Transfer::default()));
/// })?;
/// assert_eq!((&a, &b), (b"left", b"right"));
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
pub fn concurrently<'env, R>(body: impl FnOnce(&mut Concurrent<'env>) -> R) -> Result<R> {
    let mut concurrent = Concurrent { drivers: Vec::new(), jobs: Vec::new() };
    let value = body(&mut concurrent);
    let done = pool::all(concurrent.jobs);
    // Every driver gets its COEND, whatever came of the requests and of the other COENDs.
    let ends: Vec<_> = concurrent.drivers.iter().map(|driver| driver.ctl(CtlOp::COEND, FLAGS, None)).collect();
    done?;
    ends.into_iter().try_for_each(|end| end.map(drop))?;
    Ok(value)
}

/// Issues requests inside [`concurrently`].
pub struct Concurrent<'env> {
    drivers: Vec<&'env dyn Driver>,
    jobs: Vec<Job<'env, Error>>,
}

impl<'env> Concurrent<'env> {
    /// Issues a request to `driver`. Returns at once; the request runs when all are issued, perhaps on another thread.
    pub fn issue<D: Driver>(&mut self, driver: &'env D, request: impl FnOnce(&D) -> Result<()> + Send + 'env) {
        let begun = self.begin(driver);
        self.jobs.push(Box::new(move || begun.and_then(|()| request(driver))));
    }

    /// `COBEGIN` for a driver not seen before.
    fn begin(&mut self, driver: &'env dyn Driver) -> Result<()> {
        if !self.drivers.iter().any(|known| std::ptr::addr_eq(*known, driver)) {
            driver.ctl(CtlOp::COBEGIN, FLAGS, None)?;
            self.drivers.push(driver);
        }
        Ok(())
    }
}
