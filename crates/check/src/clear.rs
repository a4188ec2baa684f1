//! Marks and leftovers of programs that ended without closing a file.

use std::sync::Arc;

use hyperslab_driver::Driver;
use hyperslab_file::{Marks, OpenFile, OpenOptions, Result};
use hyperslab_format::version::LibVersion;

use crate::context;

/// Puts the blocks of a journal in place and takes the marks in the superblock away; says which there were. Where `mends` allows it, links and objects
/// that a killed program of ours left are mended, too, if the file was whole at every instant.
pub fn clear(driver: Arc<dyn Driver>, mends: bool) -> Result<Marks> {
    let marks = hyperslab_file::clear(&driver)?;
    if marks.writing && marks.whole && mends {
        let context = context(OpenFile::open_writable(driver, &OpenOptions::default(), LibVersion::default())?);
        // If something cannot be read, nothing changes; if the storage fails, closing says so.
        let _ = context.file().operate(|| hyperslab_object::mend(&context, usize::MAX));
        context.file().close()?;
    }
    Ok(marks)
}
