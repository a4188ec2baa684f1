//! Where results and complaints go, and what becomes of an output that fails.
//!
//! One [`Output`] is made when the command begins, and finished when it ends. All that is written passes the [guard](crate::escape::guard).
//! Errors of standard output are errors of the command: [`status`](crate::status) says which exit code they become. Errors of
//! standard error are not told, since there is no place left to tell them; the exit code does not depend on them.

use crate::escape::{Form, guard};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write, stdout};

/// Bytes that wait to be written together.
const BUFFER: usize = 1 << 16;

/// Standard output: for people with colours where they can be seen, for other programs without.
pub(crate) struct Output {
    to: Box<dyn Write>,
    form: Form,
    /// Whether a line goes out when it is whole: a user reads the output while it grows.
    by_line: bool,
    waiting: Vec<u8>,
    guarded: Vec<u8>,
    /// The first error that the command has not reported yet.
    failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn standard(form: Form) -> Output {
        let to: Box<dyn Write> = match form {
            Form::Json => Box::new(stdout().lock()),
            Form::Text => Box::new(anstream::stdout().lock()),
        };
        let by_line = stdout().is_terminal();
        Output { to, form, by_line, waiting: Vec::new(), guarded: Vec::new(), failed: None }
    }

    /// Says on standard error what went wrong, behind the results so far.
    pub(crate) fn complain(&mut self, what: &(impl Display + ?Sized)) {
        if let Err(why) = self.flush() {
            self.failed.get_or_insert(why);
        }
        complain(what);
    }

    /// Writes what waits; the first error of all.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        self.failed.take().map_or(flushed, Err)
    }

    fn write_out(&mut self, end: bool) -> io::Result<()> {
        let taken = guard(self.form, &self.waiting, end, &mut self.guarded);
        self.waiting.drain(..taken);
        let written = self.to.write_all(&self.guarded);
        // What failed once is not tried again.
        self.guarded.clear();
        written
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= BUFFER || self.by_line && bytes.contains(&b'\n') {
            self.write_out(false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out(true)?;
        self.to.flush()
    }
}

/// Writes lines to standard error.
pub(crate) fn complain(what: &(impl Display + ?Sized)) {
    let mut guarded = Vec::new();
    guard(Form::Text, format!("{what}\n").as_bytes(), true, &mut guarded);
    let _ = anstream::stderr().lock().write_all(&guarded);
}
