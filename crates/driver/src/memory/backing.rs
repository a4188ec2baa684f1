//! The file behind a memory storage.
//!
//! Lives here: replacing the file as a whole, so that a reader of it sees the old bytes or the new, never a mixture. Does not
//! live here: when to do so. Called by `Memory`.

use std::fs;
use std::io;
use std::path::Path;

use crate::{Existing, Staged};

/// Returns when `bytes` are the content of the file at `path`, and durable as that if asked for.
pub(super) fn replace(path: &Path, bytes: &[u8], durably: bool) -> io::Result<()> {
    let new = Staged::beside(path)?;
    fs::write(new.path(), bytes)?;
    if durably { new.publish(Existing::Replace) } else { new.rename(Existing::Replace).map(drop) }
}
