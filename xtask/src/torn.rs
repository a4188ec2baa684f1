//! `cargo xtask torn`: all tests, while reads of metadata are torn as if another process were writing.
//!
//! The feature `torn` of `hyperslab-file` tears every n-th block when it is read, as far as the format gives a reader something to notice it by, and sets the default
//! retry policy so that it is read again. A block that is torn without being noticed is an error, so a test that passes has seen nothing of it.

use crate::step::{cargo, run as execute, step};
use crate::{metadata, python};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// The feature that tears reads.
const TORN: &[&str] = &["--features", "hyperslab-file/torn"];

/// Tests that say themselves what is torn, or how often the storage is asked.
const LEFT_OUT: &[&str] = &["test(/^torn::/)"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Every how many blocks one is torn
    #[arg(long, default_value_t = 7)]
    every: u32,
    /// Which packages; all of the workspace if none is given
    packages: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    let packages: Vec<_> = options.packages.iter().map(String::as_str).collect();
    step("tests over torn reads of metadata", || execute(&mut tests(options.every, &packages, &python)))
}

/// The command that runs the tests of some packages, of all if none is named, while every `every`-th block is torn.
pub(crate) fn tests(every: u32, packages: &[&str], python: &Path) -> Command {
    let mut tests = cargo();
    tests.args(["nextest", "run", "--no-fail-fast"]).args(TORN);
    match packages {
        [] => tests.args(["--workspace", "--features", "hyperslab/ndarray"]),
        packages => tests.args(packages.iter().flat_map(|package| ["--package", package])),
    };
    tests.args(["-E", &format!("not ({})", LEFT_OUT.join(" + "))]);
    tests.env("HYPERSLAB_TEAR", every.to_string()).env(python::VARIABLE, python);
    tests
}
