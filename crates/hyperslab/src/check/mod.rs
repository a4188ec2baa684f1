//! Looking at everything in a file: is it whole, who takes which bytes, what is lost?
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5");
//! let report = hyperslab::check::file(path, &mut |_| ())?;
//! assert_eq!(report.problems().count(), 0);
//! assert_eq!((report.groups, report.datasets), (2, 8));
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! Lives here: the walk from object to object, hard-link counts, and the books of who has which bytes. Does not live here: the blocks of a structure; each
//! room shows its own to a `Survey`.

mod book;
mod gaps;
mod report;
mod walk;

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Transfer};
use hyperslab_file::{OpenFile, OpenOptions};
use hyperslab_filter::Registry;
use hyperslab_object::Context;

use crate::{Locking, Low, Result, open_options::Access, storage::Source};

pub use hyperslab_file::Marks;
pub use report::{Finding, Progress, Report, Severity, Space, Usage};

/// What a [`Finding`] calls the end that a superblock tells. [`clear`] lets it tell the real one.
pub const END_OF_FILE: &str = "end of the file";

/// Looks at everything in a file. An error if it cannot be read at all; what is wrong with its content is in the report. `progress` is
/// called now and then.
pub fn file(path: impl AsRef<Path>, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    let access = Access::default();
    let storage = Source::find(path.as_ref(), &access)?.unlocked(&access)?;
    look(storage.driver, progress)
}

/// As [`file()`], on any storage.
pub fn storage(storage: Arc<dyn Driver>) -> Result<Report> {
    look(storage, &mut |_| ())
}

fn look(driver: Arc<dyn Driver>, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    let size = driver.len(&Transfer::default())?;
    match walk(driver, progress) {
        Err(why) => Report::of_what_stops(why, size),
        Ok(report) => Ok(report),
    }
}

fn walk(
    driver: Arc<dyn Driver>,
    progress: &mut dyn FnMut(Progress),
) -> std::result::Result<Report, hyperslab_file::Error> {
    let mut options = OpenOptions::default();
    options.as_it_is = true;
    let file = OpenFile::open(driver, &options)?;
    let context = Context::new(file, hyperslab_chunk::unfilter(Arc::new(Registry::default())));
    Ok(walk::Walk::new(&context, progress).run())
}

/// Takes away what programs left that ended without closing the file: a journal, whose blocks are put in place, and marks in the superblock; says which
/// there were. A superblock that tells of less than the storage has, as one of a killed SWMR writer does, tells of all then. An error if another program has the file open, unless `force` says that it does not matter.
///
/// Objects without names that a killed program of ours left in heaps, and counts of names that it left too high, are mended then, but not by `force`:
/// a file that is not whole is not changed any further.
pub fn clear(path: impl AsRef<Path>, force: bool) -> Result<Marks> {
    let access = Access { write: true, locking: Locking::BestEffort, ..Access::default() };
    let source = Source::find(path.as_ref(), &access)?;
    // The lock is held until the end.
    let storage = if force { source.unlocked(&access)? } else { source.lock(&access)? };
    let driver = storage.driver.clone();
    let marks = hyperslab_file::clear(&driver)?;
    if marks.writing && marks.whole && !force {
        let file = OpenFile::open_writable(driver, &OpenOptions::default(), Low::default())?;
        let context = Context::new(file, hyperslab_chunk::unfilter(Arc::new(Registry::default())));
        // If something cannot be read, nothing changes; if the storage fails, closing says so.
        let _ = context.file().operate(|| hyperslab_object::mend(&context, usize::MAX));
        context.file().close()?;
    }
    Ok(marks)
}
