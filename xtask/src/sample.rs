//! `cargo xtask sample`: a file to try the command on.

use crate::step::run as execute;
use crate::{metadata, python};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// What makes the file, inside the workspace.
const SCRIPT: &str = "xtask/sample.py";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where to put it
    #[arg(default_value = "sample.h5")]
    file: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    execute(Command::new(python).arg(metadata.workspace_root.join(SCRIPT)).arg(&options.file))?;
    eprintln!("==> {0} is there: hyperslab ls {0}", options.file.display());
    Ok(())
}
