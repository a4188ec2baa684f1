//! The `hyperslab` command: a door for people at a shell.
//!
//! Lives here: words in, words out. Does not live here: anything about HDF5, which the model knows. Results go to
//! standard output, complaints to standard error (`output`); how the command ends is told by its exit code (`status`).

mod arguments;
mod attributes;
mod caching;
mod check;
mod clear;
mod convert;
mod copy;
mod demo;
mod diff;
mod digest;
mod dump;
mod escape;
mod failure;
mod filter;
mod find;
mod ls;
mod names;
mod nested;
mod new_file;
mod output;
mod pieces;
mod progress;
mod put;
mod repack;
mod select;
mod slice;
mod sparse;
mod stat;
mod status;
mod storing;
mod style;
mod table;
mod text;
mod value_json;
mod walk;

use arguments::Job;
use failure::Failure;
use output::Output;
use status::Status;
use std::process::ExitCode;

/// Opening, making and reading objects allocates much and little at a time: twice as fast so (`docs/benchmarks.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let job = match arguments::parse() {
        Ok(arguments) => arguments.job,
        Err(code) => return code.into(),
    };
    let mut out = Output::standard(job.form());
    let done = run(&job, &mut out);
    status::code(done, &mut out, job.trouble()).into()
}

fn run(job: &Job, out: &mut Output) -> Result<Status, Failure> {
    let done = |()| Status::Done;
    match job {
        Job::Ls(options) => ls::run(options, out).map(done),
        Job::Dump(options) => dump::run(options, out).map(done),
        Job::Select(select) => select::run(select, out).map(done),
        Job::Diff(options) => diff::run(options, out),
        Job::Stat(options) => stat::run(options, out).map(done),
        Job::Check(options) => check::run(options, out),
        Job::Clear(options) => clear::run(options, out).map(done),
        Job::Copy(options) => copy::run(options, out).map(done),
        Job::Repack(options) => repack::run(options, out),
        Job::New(options) => put::new(options).map(done),
        Job::Put(options) => put::run(options, out).map(done),
        Job::Demo(options) => demo::run(options, out).map(done),
        Job::Digest(options) => digest::run(&options.file, options.cap, out).map(done),
    }
}
