//! The `hyperslab` command: a door for people at a shell.
//!
//! Lives here: words in, words out. Does not live here: anything about HDF5, which the model knows. Results go to
//! standard output, complaints to standard error; a reader that went away is no error.

mod arguments;
mod digest;
mod facts;
mod failure;
mod print;
mod select;
mod slice;

use arguments::Job;
use std::io::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = arguments::parse();
    let done = match &arguments.job {
        Job::Select(select) => select::run(select),
        Job::Digest { file, cap } => digest::run(file, *cap, &mut std::io::BufWriter::new(std::io::stdout().lock())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure::Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
            anstream::eprintln!("{style}error:{style:#} {failure}");
            ExitCode::FAILURE
        }
    }
}
