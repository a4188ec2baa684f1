//! Where files are that are timed, and how ours are made.

use anyhow::{Context, Result};
use hyperslab::{File, LibVersion, OpenOptions};
use std::path::{Path, PathBuf};

/// Where a file is, beside others of the workshop.
pub(crate) fn path(name: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
    let directory = root.join("target/bench-files");
    std::fs::create_dir_all(&directory)?;
    Ok(directory.join(name))
}

/// A new file of ours, with the newest versions of everything or the oldest.
pub(crate) fn create(path: &Path, latest: bool) -> Result<File> {
    let low = if latest { LibVersion::V200 } else { LibVersion::Earliest };
    Ok(OpenOptions::new().create().truncate().libver_min(low).open(path)?)
}
