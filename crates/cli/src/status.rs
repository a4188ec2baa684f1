//! How the command ends: the exit codes, which `docs/exit-codes.md` lists.

use crate::escape::Form;
use crate::failure::Failure;
use crate::output::{Output, complain};
use crate::style;
use std::io::{ErrorKind, Write};

/// What a job that came to its end has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is done, equal or clean.
    Done,
    /// The answer is no: files differ, or have problems.
    No,
    /// What could be read is done, and the user wanted it so.
    Partly,
}

/// A command line that is wrong.
const USAGE: u8 = 2;

/// As of a process that a broken pipe ended: 128 and the number of SIGPIPE.
const BROKEN_PIPE: u8 = 141;

/// The exit code of a job, after its output was finished and its error was said; `trouble` is the code of an error.
pub(crate) fn code(done: Result<Status, Failure>, out: &mut Output, trouble: u8) -> u8 {
    let finished = out.finish().map_err(Failure::Output);
    match done.and_then(|status| finished.map(|()| status)) {
        Ok(Status::Done) => 0,
        Ok(Status::No) => 1,
        Ok(Status::Partly) => 3,
        // The reader had enough; it did not see the answer, so that there is none.
        Err(Failure::Output(why)) if why.kind() == ErrorKind::BrokenPipe => BROKEN_PIPE,
        Err(why) => {
            out.complain(&style::error(&why));
            trouble
        }
    }
}

/// The exit code of a command line that is wrong, after that was said.
pub(crate) fn usage(text: &str) -> u8 {
    complain(text.strip_suffix('\n').unwrap_or(text));
    USAGE
}

/// The exit code of a command line that asks for help, after it was printed.
pub(crate) fn help(text: &str) -> u8 {
    let mut out = Output::standard(Form::Text);
    let printed = out.write_all(text.as_bytes()).map_err(Failure::Output);
    code(printed.map(|()| Status::Done), &mut out, 1)
}
