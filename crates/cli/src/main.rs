//! The `hyperslab` command: a door for people at a shell.
//!
//! Lives here: words in, words out. Does not live here: anything about HDF5, which the model knows. Results go to
//! standard output, complaints to standard error; a reader that went away is no error.

mod arguments;
mod attributes;
mod digest;
mod dump;
mod failure;
mod find;
mod ls;
mod names;
mod nested;
mod output;
mod select;
mod slice;
mod style;
mod text;
mod value_json;
mod walk;

use arguments::Job;
use std::io::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = arguments::parse();
    let done = match &arguments.job {
        Job::Ls(options) => ls::run(options),
        Job::Dump(options) => dump::run(options),
        Job::Select(select) => select::run(select),
        Job::Digest { file, cap } => digest::run(file, *cap, &mut std::io::BufWriter::new(std::io::stdout().lock())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure::Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{}", style::error(&failure));
            ExitCode::FAILURE
        }
    }
}
