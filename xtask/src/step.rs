//! Running commands one after the other: say what, run it, say how long it took, stop at the first failure.

use anyhow::{Context, Result, anyhow, bail};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Features that are off by default are tested too; the same for all steps, so that nothing is built twice. Reads are torn only where the environment says so.
pub(crate) const FEATURES: &[&str] = &["--features", "hyperslab/ndarray,hyperslab/sprs,hyperslab/torn"];

/// Runs `work` under a headline and prints its time.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("==> {what}");
    let begin = Instant::now();
    let result = work().with_context(|| format!("{what} failed"));
    let verdict = if result.is_ok() { "done" } else { "FAILED" };
    eprintln!("    {verdict} in {:.1} s", begin.elapsed().as_secs_f64());
    result
}

/// Runs two pieces of work at the same time, because each of them leaves a core idle; their lines mix.
pub(crate) fn beside(first: impl FnOnce() -> Result<()>, second: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        let second = second.join().map_err(|_| anyhow!("a step panicked"))?;
        first.and(second)
    })
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build_once(&mut cargo);
    cargo
}

/// In CI, where each clone is built once, cargo does not write down what would make a second build short. To be said to whatever calls cargo: crates that are built
/// in the other way are others.
pub(crate) fn build_once(command: &mut Command) {
    if std::env::var_os("CI").is_some() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
}

/// Runs a command to its end; its output goes to the terminal.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("    $ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Whether a command starts and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as a person would type it, with program paths shortened to their names.
fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}
