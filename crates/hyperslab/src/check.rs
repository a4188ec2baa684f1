//! Checking a file: is it whole, which structure has which bytes, which bytes are lost?
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5");
//! let report = hyperslab::check::file(path, &mut |_| ())?;
//! assert_eq!(report.problems().count(), 0);
//! assert_eq!((report.groups, report.datasets), (2, 8));
//! # Ok::<(), hyperslab::Error>(())
//! ```

use std::{path::Path, sync::Arc};

use hyperslab_driver::Driver;

use hyperslab_session::{Access, with_storage};

use crate::{Locking, OpenOptions, Result};

pub use hyperslab_check::{END_OF_FILE, Finding, MARK, Marks, Progress, Report, Severity, Space, Usage};

/// Looks at everything in a file. An error if it cannot be read at all; what is wrong with its content is in the report. `progress` is
/// called now and then.
pub fn file(path: impl AsRef<Path>, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    file_with(path, &OpenOptions::new(), progress)
}

/// As [`file()`], with the options that say how the file is read: those of pages, retries and transfers.
///
/// ```
/// use hyperslab::{OpenOptions, Retry, check};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5");
/// let retry = Retry { attempts: 10, ..Retry::default() };
/// let report = check::file_with(path, &OpenOptions::new().retry(retry), &mut |_| ())?;
/// assert_eq!(report.problems().count(), 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn file_with(path: impl AsRef<Path>, options: &OpenOptions, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    let requests = options.requests();
    let access = Access { transfer: requests.transfer.clone(), ..Access::default() };
    with_storage(path.as_ref(), &access, false, |storage| Ok(hyperslab_check::check(storage, &requests, progress)?))
}

/// As [`file()`], on any storage.
pub fn storage(storage: Arc<dyn Driver>) -> Result<Report> {
    storage_with(storage, &OpenOptions::new())
}

/// As [`file_with`], on any storage.
pub fn storage_with(storage: Arc<dyn Driver>, options: &OpenOptions) -> Result<Report> {
    Ok(hyperslab_check::check(storage, &options.requests(), &mut |_| ())?)
}

/// Takes away what programs left that ended without closing the file: a journal, whose blocks are put in place, and marks in the superblock; says which
/// there were. A superblock that tells of less than the storage has, as one of a killed SWMR writer does, tells of all then. An error if another program has the file open, unless `force` says that it does not matter.
///
/// Objects without names that a killed program of ours left in heaps, and counts of names that it left too high, are mended then, but not by `force`:
/// a file that is not whole is not changed any further.
pub fn clear(path: impl AsRef<Path>, force: bool) -> Result<Marks> {
    let access = Access { write: true, locking: Locking::BestEffort, ..Access::default() };
    with_storage(path.as_ref(), &access, !force, |storage| Ok(hyperslab_check::clear(storage, !force)?))
}
