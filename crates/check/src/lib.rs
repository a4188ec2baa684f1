//! Checking a file: is it whole, which structure has which bytes, which bytes are lost?
//!
//! Lives here: the walk from object to object, hard-link counts, and the account of all bytes. Does not live here: the blocks of a structure; each
//! crate shows its own to a `Survey`. Called by `hyperslab`, which opens and locks the storage.

mod clear;
mod gaps;
mod report;
mod space_map;
mod sparse;
mod walk;

use std::sync::Arc;

use hyperslab_driver::Driver;
use hyperslab_file::{OpenFile, OpenOptions, Result};
use hyperslab_filter::Registry;
use hyperslab_object::Context;

pub use clear::clear;
pub use hyperslab_file::Marks;
pub use report::{Finding, Progress, Report, Severity, Space, Usage};

/// What a [`Finding`] calls the end that a superblock tells. [`clear`] lets it tell the real one.
pub const END_OF_FILE: &str = "end of the file";

/// What a [`Finding`] calls the mark in the superblock of a file that is open for writing, or was when its writer ended. [`clear`] takes it away.
pub const MARK: &str = "superblock mark";

/// Checks the file on a storage. An error if it cannot be read at all; what is wrong with its content is in the report. `progress` is called now
/// and then. Of the options, those count that say how storage is asked: pages, retries, what goes with each request.
pub fn check(driver: Arc<dyn Driver>, options: &OpenOptions, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    let size = driver.len(&options.transfer)?;
    walk(driver, options, progress).or_else(|why| Report::of_what_stops(why, size))
}

fn walk(driver: Arc<dyn Driver>, options: &OpenOptions, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
    let mut options = options.clone();
    options.as_it_is = true;
    let context = context(OpenFile::open(driver, &options)?);
    Ok(walk::Walk::new(&context, progress).run())
}

fn context(file: OpenFile) -> Context {
    Context::new(file, hyperslab_chunk::unfilter(Arc::new(Registry::default())))
}
