//! `cargo xtask python-memcheck`: the tests of arrays that users give to the Python package, under valgrind.
//!
//! Python takes its memory from `malloc` then, so valgrind sees when an array or an object is used after it is gone. Memory of the engine itself
//! comes from an allocator of its own and is not watched.

use crate::step::{run as execute, step, succeeds};
use crate::{metadata, python};
use anyhow::{Result, bail};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Tests of the package, as pytest names them
    #[arg(default_value = "tests/test_given_arrays.py")]
    tests: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if !succeeds(Command::new("valgrind").arg("--version")) {
        bail!("valgrind is needed");
    }
    let metadata = metadata::load()?;
    let interpreter = python::set_up(&metadata)?;
    let package = python::build_package(&metadata, &interpreter, python::Profile::Dev)?;
    let suppressions = metadata.workspace_root.join("xtask/valgrind.supp");
    let mut command = Command::new("valgrind");
    command
        // Python and NumPy compare what they never wrote; this is about memory that is gone.
        .args(["--quiet", "--undef-value-errors=no", "--error-exitcode=9", "--leak-check=no", "--num-callers=30"])
        .arg(format!("--suppressions={}", suppressions.display()))
        .arg(&interpreter)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .args(&options.tests)
        .env("PYTHONMALLOC", "malloc")
        .current_dir(package);
    step("arrays of users under valgrind", || execute(&mut command))
}
