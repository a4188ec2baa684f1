//! Requests at once: the document's `COBEGIN` and `COEND` (2.5.2) as a scope.
//!
//! Lives here: [`concurrently`]. Does not live here: the threads (`pool`). Called by drivers that parcel a request out to
//! several others, and by the engine.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::Scope;

use crate::pool::pool;
use crate::{CtlFlags, CtlOp, Driver, Error, Result};

const FLAGS: CtlFlags = CtlFlags::IGNORE_IF_UNKNOWN.union(CtlFlags::ROUTE_TO_TERMINAL);

/// Runs the requests issued in `body` at once and returns when all are complete.
///
/// Every driver used gets `COBEGIN` before its first request and `COEND` after the last of all. The result is the first
/// error in order of issue; the other requests run to their end all the same.
///
/// **Hold no lock across this call.** While it waits, the thread may run a request of somebody else, which may want the same
/// lock.
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
pub fn concurrently<'env, R>(body: impl FnOnce(&mut Concurrent<'_, '_, 'env>) -> R) -> Result<R> {
    let outcome = Outcome::default();
    let mut drivers: Vec<&'env dyn Driver> = Vec::new();
    let value = match pool() {
        Some(pool) => pool.in_place_scope(|scope| run(body, Some(scope), &outcome, &mut drivers)),
        None => run(body, None, &outcome, &mut drivers),
    };
    // Every driver gets its COEND, whatever the others say.
    let ends: Vec<_> = drivers.iter().map(|driver| driver.ctl(CtlOp::COEND, FLAGS, None)).collect();
    outcome.first_error().map_or(Ok(()), Err)?;
    ends.into_iter().try_for_each(|end| end.map(drop))?;
    Ok(value)
}

/// Issues requests inside [`concurrently`].
pub struct Concurrent<'a, 'scope, 'env: 'scope> {
    scope: Option<&'a Scope<'scope>>,
    outcome: &'scope Outcome,
    drivers: &'a mut Vec<&'env dyn Driver>,
    issued: usize,
    /// The latest request. It waits for the next, so that the last one runs on the thread that would only wait for it.
    latest: Option<Job<'scope>>,
}

type Job<'scope> = Box<dyn FnOnce() + Send + 'scope>;

fn run<'scope, 'env: 'scope, R>(
    body: impl FnOnce(&mut Concurrent<'_, 'scope, 'env>) -> R,
    scope: Option<&Scope<'scope>>,
    outcome: &'scope Outcome,
    drivers: &mut Vec<&'env dyn Driver>,
) -> R {
    let mut concurrent = Concurrent { scope, outcome, drivers, issued: 0, latest: None };
    let value = body(&mut concurrent);
    if let Some(job) = concurrent.latest {
        job();
    }
    value
}

impl<'scope, 'env: 'scope> Concurrent<'_, 'scope, 'env> {
    /// Issues a request to `driver`. Returns at once; the request runs soon, perhaps on another thread.
    pub fn issue<D: Driver>(&mut self, driver: &'env D, request: impl FnOnce(&D) -> Result<()> + Send + 'env) {
        let (index, outcome) = (self.issued, self.outcome);
        self.issued += 1;
        if let Err(error) = self.begin(driver) {
            return outcome.note(index, error);
        }
        let job = Box::new(move || {
            if let Err(error) = request(driver) {
                outcome.note(index, error);
            }
        });
        if let Some(earlier) = self.latest.replace(job) {
            match self.scope {
                Some(scope) => scope.spawn(move |_| earlier()),
                None => earlier(),
            }
        }
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

/// The errors so far, by order of issue.
#[derive(Default)]
struct Outcome(Mutex<BTreeMap<usize, Error>>);

impl Outcome {
    fn note(&self, index: usize, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(index, error);
    }

    fn first_error(self) -> Option<Error> {
        let errors = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        errors.into_values().next()
    }
}
