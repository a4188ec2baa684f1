//! The Python environment with h5py, whose wheel brings the libhdf5 that tests and benchmarks compare against; and our own package in it.

use crate::metadata::Metadata;
use crate::step::{FEATURES, build_once, run, step};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to install, inside the workspace.
const REQUIREMENTS: &str = "oracle/requirements.txt";

/// Tests find the interpreter through this variable.
pub(crate) const VARIABLE: &str = "HYPERSLAB_PYTHON";

/// Makes sure that the environment exists and is right; returns its interpreter.
pub(crate) fn set_up(metadata: &Metadata) -> Result<PathBuf> {
    let home = metadata.target_directory.join("venv");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let requirements = metadata.workspace_root.join(REQUIREMENTS);
    let wanted = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    // Written last, so that an interrupted installation is not taken for a whole one.
    let stamp = home.join("installed.txt");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    step("Python environment with h5py", || {
        let system = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        run(Command::new(system).args(["-m", "venv", "--clear"]).arg(&home))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&requirements))?;
        fs::write(&stamp, &wanted).context("cannot note what was installed")
    })?;
    Ok(python)
}

/// Builds our package into the environment and runs its tests, which compare it with h5py, on all cores.
pub(crate) fn test_package(metadata: &Metadata, python: &Path) -> Result<()> {
    let package = build_package(metadata, python, Profile::Dev)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get()).to_string();
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", &cores, "--dist", "worksteal"]);
    run(command.current_dir(package))
}

/// How the package is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

/// Builds our package into the environment; where its sources are.
pub(crate) fn build_package(metadata: &Metadata, python: &Path, profile: Profile) -> Result<PathBuf> {
    let package = metadata.workspace_root.join("crates/python");
    let home = metadata.target_directory.join("venv");
    let build = ["-m", "maturin", "develop", "--quiet", "--manifest-path"];
    let mut command = Command::new(python);
    command.args(build).arg(package.join("Cargo.toml"));
    match profile {
        Profile::Release => command.arg("--release"),
        // The same features as in all tests, so that their build serves this one.
        Profile::Dev => command.args(FEATURES),
    };
    build_once(&mut command);
    run(command.env("VIRTUAL_ENV", &home))?;
    Ok(package)
}

/// Which of h5py's tests to run.
#[derive(clap::Args)]
pub(crate) struct H5pyOptions {
    /// Modules, such as `test_group`; those that `docs/h5py-tests.md` tells of if none is given
    modules: Vec<String>,
    /// Say what failed, and why
    #[arg(long)]
    failures: bool,
    /// Fail if fewer percent than these pass
    #[arg(long, default_value_t = 80)]
    least: u8,
}

/// Runs h5py's own tests with our package in the place of h5py.
pub(crate) fn h5py_tests(options: &H5pyOptions) -> Result<()> {
    let metadata = crate::metadata::load()?;
    let python = set_up(&metadata)?;
    let package = build_package(&metadata, &python, Profile::Dev)?;
    let mut command = Command::new(&python);
    command.arg(package.join("h5py_tests/run.py")).args(&options.modules);
    command.args(["--least", &options.least.to_string()]).args(options.failures.then_some("--failures"));
    run(&mut command)
}
