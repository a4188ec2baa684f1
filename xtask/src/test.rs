//! `cargo xtask test`: everything that CI runs, cheapest first.

use crate::metadata::{self, Metadata};
use crate::step::{FEATURES, beside, cargo, run as execute, step, succeeds};
use crate::{layers, python, torn, unit_tests};
use anyhow::Result;
use std::process::Command;

/// The chunk cache on locks that try out in which order threads can run; a build of its own, of few crates.
const ANY_ORDER: &[&str] = &["test", "--package", "hyperslab-cache", "--features", "shuttle", "--test", "shuttle"];

/// The packages whose tests open files with a chunk cache, but for tests of selections, which open none; to the others its size means nothing.
const ABOVE_THE_CACHE: &[&str] = &[
    "-E",
    "package(hyperslab) + package(hyperslab-cli) + package(/hyperslab-(oracle|hostile)/) - test(/^(selections|projection|vectors)::/)",
];

/// The packages that read blocks of metadata. Those above them are tested over torn reads by `cargo xtask torn`.
const READERS: &str = "package(/hyperslab-(file|structures|object)/)";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Try so many times as many random cases
    #[arg(long, default_value_t = 1)]
    times: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    step("layers", || layers::check(&metadata))?;
    step("unit tests that never run", || unit_tests::check(&metadata))?;
    format()?;
    clippy()?;
    step("fuzz targets", || execute(&mut fuzz_targets(&metadata)))?;
    let has_nextest = succeeds(cargo().args(["nextest", "--version"]));
    let tests = || {
        let mut tests = cargo();
        tests.args(test_runner(has_nextest)).args(FEATURES).env(python::VARIABLE, &python);
        tests.env("HYPERSLAB_TIMES", options.times.to_string());
        tests
    };
    step("tests", || execute(&mut tests()))?;
    step("tests with a cache for a few chunks", || {
        let filter = if has_nextest { ABOVE_THE_CACHE } else { &[] };
        execute(tests().args(filter).env("HYPERSLAB_CACHE_BYTES", "8192"))
    })?;
    if has_nextest {
        step("tests over torn reads of metadata", || execute(&mut torn::tests(3, READERS, &python)))?;
    }
    step("Python package", || python::test_package(&metadata, &python))?;
    // Examples are compiled crate by crate, on one core; threads in any order run on one.
    beside(
        || step("documentation examples", || execute(cargo().args(["test", "--doc", "--workspace"]).args(FEATURES))),
        || {
            step("documentation", || execute(&mut documentation()))?;
            step("threads in any order", || execute(cargo().args(ANY_ORDER)))
        },
    )?;
    eprintln!("==> all good");
    Ok(())
}

fn format() -> Result<()> {
    if !succeeds(cargo().args(["fmt", "--version"])) {
        eprintln!("==> format: skipped, rustfmt is not installed (rustup component add rustfmt)");
        return Ok(());
    }
    step("format", || execute(cargo().args(["fmt", "--all", "--check"])))
}

fn clippy() -> Result<()> {
    if !succeeds(cargo().args(["clippy", "--version"])) {
        eprintln!("==> clippy: skipped, it is not installed (rustup component add clippy)");
        return Ok(());
    }
    let all = ["clippy", "--workspace", "--all-targets"];
    step("clippy", || execute(cargo().args(all).args(FEATURES).args(["--", "-D", "warnings"])))
}

/// They are a workspace of their own, so no other step sees them. What they depend on is taken from the step before.
fn fuzz_targets(metadata: &Metadata) -> Command {
    let mut command = cargo();
    command.args(["check", "--manifest-path"]).arg(metadata.workspace_root.join("fuzz/Cargo.toml"));
    command.arg("--target-dir").arg(&metadata.target_directory);
    command
}

fn documentation() -> Command {
    let mut command = cargo();
    command.args(["doc", "--workspace", "--no-deps"]).args(FEATURES).env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// nextest runs test binaries in parallel; cargo's own runner does where it is missing.
fn test_runner(has_nextest: bool) -> &'static [&'static str] {
    if has_nextest {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests"]
    }
}
