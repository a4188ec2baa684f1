//! `cargo xtask torn`: all tests, while reads of metadata are torn as if another process were writing.
//!
//! The feature `torn` tears every n-th block when it is read, as far as the format gives a reader something to notice it by, and sets the default
//! retry policy so that it is read again. A block that is torn without being noticed is an error, so a test that passes has seen nothing of it.

use crate::step::{FEATURES, cargo, run as execute, step};
use crate::{metadata, python};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Tests that say themselves what is torn, or how often the storage is asked.
const LEFT_OUT: &[&str] = &[
    "test(/^torn::/)",
    "test(/^io_patterns::/)",
    "test(=slow_storage::nothing_is_read_ahead_without_latency_or_order)",
    "test(=evict_on_close::what_was_closed_is_read_again)",
    "test(=foreign::a_shared_message_is_released_without_a_walk_over_all)",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Every how many blocks one is torn
    #[arg(long, default_value_t = 7)]
    every: u32,
    /// Which tests, as nextest filters them, such as "package(hyperslab)"
    #[arg(default_value = "all()")]
    filter: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    step("tests over torn reads of metadata", || execute(&mut tests(options.every, &options.filter, &python)))
}

/// The command that runs the tests that a filter lets through while every `every`-th block is torn.
pub(crate) fn tests(every: u32, filter: &str, python: &Path) -> Command {
    let mut tests = cargo();
    tests.args(["nextest", "run", "--workspace", "--no-fail-fast"]).args(FEATURES);
    tests.args(["-E", &format!("({filter}) - ({})", LEFT_OUT.join(" + "))]);
    tests.env("HYPERSLAB_TEAR", every.to_string()).env(python::VARIABLE, python);
    tests
}
