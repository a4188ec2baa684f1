//! `cargo xtask repack`: all files of a corpus, written anew for several versions of the library, held against the originals by libhdf5.

use crate::step::{cargo, run as execute, step};
use crate::{metadata, python};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// What does it, inside the workspace.
const SCRIPT: &str = "oracle/repack.py";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// For which versions
    #[arg(long, default_value = "earliest,1.10,latest")]
    versions: String,
    /// Where the files are: a folder with `public` and `index.csv`, and `oracle/oracle.py` beside it [default: $HYPERSLAB_CORPUS, then
    /// ../shared/corpus beside the workspace]
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// How many files at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Only files with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The h5dump to use, if not the one on the path
    #[arg(long)]
    h5dump: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let beside = metadata.workspace_root.join("../shared/corpus");
    let known = std::env::var_os("HYPERSLAB_CORPUS").map_or(beside, PathBuf::from);
    let corpus = options.corpus.clone().unwrap_or(known);
    if !corpus.join("index.csv").exists() {
        bail!("there is no corpus in {}", corpus.display());
    }
    let python = python::set_up(&metadata)?;
    step("release build", || execute(cargo().args(["build", "--release", "--package", "hyperslab-cli"])))?;
    step("files written anew", || {
        let mut command = Command::new(python);
        command.arg(metadata.workspace_root.join(SCRIPT));
        command.arg("--bin").arg(metadata.target_directory.join("release/hyperslab")).arg("--corpus").arg(corpus);
        command.args(["--versions", &options.versions, "--jobs", &options.jobs.to_string(), "--only", &options.only]);
        if let Some(h5dump) = &options.h5dump {
            command.arg("--h5dump").arg(h5dump);
        }
        execute(&mut command)
    })
}
