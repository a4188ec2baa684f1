//! `cargo xtask fuzz`: every fuzz target for some seconds, two at a time, or all of them for some minutes together.
//!
//! With a nightly toolchain the address sanitizer watches too; a stable one fuzzes without it.

use crate::metadata;
use crate::step::{run as execute, step, succeeds};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// How many targets run at once.
const WORKERS: usize = 2;

/// More memory or time than this for one input is a finding: cost follows structure.
const LIMITS: [&str; 2] = ["-rss_limit_mb=1024", "-timeout=10"];

/// A line of figures at the end instead of one per discovery.
const QUIET: [&str; 2] = ["-verbosity=0", "-print_final_stats=1"];

/// C libraries are compiled with the sanitizer too, and GCC marks a table of zstd that is static, and so lives forever, as gone with its
/// scope.
const C_FLAGS: (&str, &str) = ("CFLAGS", "-fno-sanitize-address-use-after-scope");

/// Small files that hold every structure.
const SEEDS: &str = "hostile/seeds";

/// The input of these targets is no file.
const WITHOUT_SEEDS: [&str; 7] =
    ["algebra", "datatype", "decode_message", "decode_selection", "decode_space", "filter", "sparse_file"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// How long all targets run together, instead
    #[arg(long, conflicts_with = "seconds")]
    minutes: Option<u32>,
    /// Only these targets
    targets: Vec<String>,
}

impl Options {
    /// The seconds that each of so many targets runs.
    fn each(&self, targets: usize) -> u32 {
        let workers = WORKERS.min(targets) as u32;
        self.minutes.map_or(self.seconds, |minutes| (minutes * 60 * workers / targets.max(1) as u32).max(1))
    }
}

/// How cargo-fuzz is called on this machine.
struct Fuzzer {
    path: OsString,
    nightly: bool,
    root: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    let fuzzer = Fuzzer::set_up(&metadata.workspace_root, &metadata.target_directory)?;
    let targets = if options.targets.is_empty() { fuzzer.targets()? } else { options.targets.clone() };
    step("build of the fuzz targets", || execute(&mut fuzzer.command("build")))?;

    let seconds = format!("-max_total_time={}", options.each(targets.len()));
    let waiting = Mutex::new(targets.iter());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let worker = || {
        let mut findings = Vec::new();
        while let Some(target) = next() {
            let fuzzed = step(&format!("fuzz {target}"), || {
                let mut command = fuzzer.command("run");
                command.arg(target).args(fuzzer.corpus(target)?);
                execute(command.arg("--").arg(&seconds).args(LIMITS).args(QUIET))
            });
            if let Err(error) = fuzzed {
                findings.push(format!("{error:#}"));
            }
        }
        findings
    };
    let findings: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|_| vec!["a worker broke".into()])).collect()
    });
    if findings.is_empty() { Ok(()) } else { bail!("{}", findings.join("\n")) }
}

impl Fuzzer {
    fn set_up(root: &Path, target: &Path) -> Result<Fuzzer> {
        let tools = target.join("tools");
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(tools.join("bin")).chain(std::env::split_paths(&folders)))?;
        let nightly = succeeds(Command::new("cargo").args(["+nightly", "--version"]));
        let fuzzer = Fuzzer { path, nightly, root: root.to_owned() };
        if !succeeds(&mut fuzzer.command("--version")) {
            let mut install = Command::new("cargo");
            install.args(["install", "cargo-fuzz", "--locked", "--root"]).arg(&tools);
            step("installation of cargo-fuzz under target/tools", || execute(&mut install))?;
        }
        Ok(fuzzer)
    }

    /// `cargo fuzz <verb>`, with the toolchain and sanitizer that there are.
    fn command(&self, verb: &str) -> Command {
        // The name, not $CARGO: only rustup's proxy understands `+nightly`.
        let mut command = Command::new("cargo");
        if self.nightly {
            command.arg("+nightly");
        }
        command.arg("fuzz").arg(verb).env("PATH", &self.path).env(C_FLAGS.0, C_FLAGS.1).current_dir(&self.root);
        if !self.nightly && matches!(verb, "build" | "run") {
            command.args(["--sanitizer", "none"]);
        }
        command
    }

    /// Where inputs are kept, and the seeds for a target that reads whole files.
    fn corpus(&self, target: &str) -> Result<Vec<PathBuf>> {
        let corpus = self.root.join("fuzz/corpus").join(target);
        fs::create_dir_all(&corpus).with_context(|| format!("cannot make {}", corpus.display()))?;
        let seeds = (!WITHOUT_SEEDS.contains(&target)).then(|| self.root.join(SEEDS));
        Ok([corpus].into_iter().chain(seeds).collect())
    }

    fn targets(&self) -> Result<Vec<String>> {
        let output = self.command("list").output().context("cannot list the fuzz targets")?;
        if !output.status.success() {
            bail!("cargo fuzz list: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }
}
