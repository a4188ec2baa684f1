//! `cargo xtask test`: everything that CI runs, cheapest first.

use crate::step::{cargo, run as execute, step, succeeds};
use crate::{layers, metadata, python};
use anyhow::Result;

/// What nobody gets without asking is tested too; the same for all steps, so that nothing is built twice.
const FEATURES: &[&str] = &["--features", "hyperslab/ndarray"];

pub(crate) fn run() -> Result<()> {
    let metadata = metadata::load()?;
    let python = python::set_up(&metadata)?;
    step("layers", || layers::check(&metadata))?;
    format()?;
    clippy()?;
    step("tests", || execute(cargo().args(test_runner()).args(FEATURES).env(python::VARIABLE, &python)))?;
    step("Python package", || python::test_package(&metadata, &python))?;
    step("documentation examples", || execute(cargo().args(["test", "--doc", "--workspace"]).args(FEATURES)))?;
    step("documentation", || {
        execute(cargo().args(["doc", "--workspace", "--no-deps"]).args(FEATURES).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
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

/// nextest runs test binaries in parallel; cargo's own runner does where it is missing.
fn test_runner() -> &'static [&'static str] {
    if succeeds(cargo().args(["nextest", "--version"])) {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests"]
    }
}
