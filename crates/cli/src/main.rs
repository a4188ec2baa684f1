//! The `hyperslab` command: a door for people at a shell.
//!
//! Lives here: words in, words out. Does not live here: anything about HDF5, which the model knows. Results go to
//! standard output, complaints to standard error; a reader that went away is no error.

mod arguments;
mod attributes;
mod caching;
mod check;
mod clear;
mod copy;
mod demo;
mod diff;
mod digest;
mod dump;
mod failure;
mod find;
mod ls;
mod names;
mod nested;
mod output;
mod pieces;
mod put;
mod select;
mod slice;
mod stat;
mod storing;
mod style;
mod table;
mod text;
mod value_json;
mod walk;

use arguments::Job;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Opening, making and reading objects allocates much and little at a time: twice as fast so (`docs/benchmarks.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = arguments::parse();
    let well = |()| true;
    let done = match &arguments.job {
        Job::Ls(options) => ls::run(options).map(well),
        Job::Dump(options) => dump::run(options).map(well),
        Job::Select(select) => select::run(select).map(well),
        Job::Diff(options) => diff::run(options),
        Job::Stat(options) => stat::run(options).map(well),
        Job::Check(options) => check::run(options),
        Job::Clear(options) => clear::run(options).map(well),
        Job::Copy(options) => copy::copy(options).map(well),
        Job::Repack(options) => copy::repack(options).map(well),
        Job::New(options) => put::new(options).map(well),
        Job::Put(options) => put::run(options).map(well),
        Job::Demo(options) => demo::run(options).map(well),
        Job::Digest { file, cap } => {
            digest::run(file, *cap, &mut std::io::BufWriter::new(std::io::stdout().lock())).map(well)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure::Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{}", style::error(&failure));
            // Where 1 is an answer, trouble is 2.
            ExitCode::from(if matches!(arguments.job, Job::Diff(_) | Job::Check(_)) { 2 } else { 1 })
        }
    }
}
