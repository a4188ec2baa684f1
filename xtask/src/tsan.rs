//! `cargo xtask tsan`: the tests of many threads under the thread sanitizer.
//!
//! Needs a nightly toolchain with the source of the standard library, which is built with the sanitizer too: without that, its locks
//! would look like races. The C code of codecs is not watched; each call of it works on buffers of one thread alone and shares
//! nothing, so no suppression is needed for it.

use crate::step::{run as execute, step, succeeds};
use crate::{metadata, python};
use anyhow::{Result, bail};
use std::process::Command;

/// What the sanitizer is built for; it needs a target that is named.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Not those of pools: the sanitizer knows no fences, with which `rayon` passes tasks on.
const TESTS: [&str; 5] = ["threads::", "cache_threads::", "many::", "closing::", "deleted::"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often each thread reads
    #[arg(long, default_value_t = 60)]
    reads: u32,
    /// For how many seconds threads write, read and resize the same datasets
    #[arg(long, default_value_t = 10)]
    seconds: u32,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("the thread sanitizer is set up for {TARGET} only");
    }
    // The name, not $CARGO: only rustup's proxy understands `+nightly`.
    if !succeeds(Command::new("rustup").args(["+nightly", "component", "add", "rust-src"])) {
        bail!("a nightly toolchain with its source is needed: rustup toolchain install nightly --component rust-src");
    }
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "test", "-Zbuild-std", "--target", TARGET, "--package", "hyperslab"])
        .args(["--test", "all", "--"])
        .args(TESTS)
        .env("CARGO_TARGET_DIR", metadata.target_directory.join("tsan"))
        .env("RUSTFLAGS", "-Zsanitizer=thread")
        .env("TSAN_OPTIONS", "halt_on_error=1")
        .env("HYPERSLAB_READS", options.reads.to_string())
        .env("HYPERSLAB_SECONDS", options.seconds.to_string())
        .env(python::VARIABLE, &python)
        .current_dir(&metadata.workspace_root);
    step("threads under the sanitizer", || execute(&mut command))
}
