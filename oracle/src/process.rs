//! The Python process that holds libhdf5, asked in batches over its standard input and output.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// libhdf5, ready to answer.
pub struct Oracle {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Serialize)]
struct Asked<'a, Q> {
    questions: &'a [Q],
}

#[derive(Deserialize)]
struct Answered<A> {
    answers: Vec<A>,
}

impl Oracle {
    /// Starts the process that answers questions about selections, or says why this test is skipped: there is no Python with
    /// h5py yet.
    ///
    /// # Errors
    /// If there is a Python but it does not start.
    pub fn start() -> Result<Option<Oracle>, Box<dyn Error>> {
        Oracle::start_script("oracle.py")
    }

    /// As [`Oracle::start`], with another script.
    ///
    /// # Errors
    /// If there is a Python but it does not start.
    pub fn start_script(script: &str) -> Result<Option<Oracle>, Box<dyn Error>> {
        let Some(python) = hyperslab_workshop::python() else { return Ok(None) };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take().ok_or("the oracle has no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("the oracle has no output")?);
        Ok(Some(Oracle { child, questions, answers }))
    }

    /// Asks a batch of questions of one kind.
    ///
    /// # Errors
    /// If the process broke, which prints its own complaint.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(&mut self, questions: &[Q]) -> Result<Vec<A>, Box<dyn Error>> {
        let mut line = serde_json::to_vec(&Asked { questions })?;
        line.push(b'\n');
        self.questions.write_all(&line)?;
        self.questions.flush()?;
        let mut reply = String::new();
        if self.answers.read_line(&mut reply)? == 0 {
            return Err(format!("the oracle ended with {}", self.child.wait()?).into());
        }
        let Answered { answers } = serde_json::from_str(&reply)?;
        Ok(answers)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It would end by itself when its input closes; a test that failed does not wait for it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
