//! A program, run by Hyperslab, by libhdf5 and by the model, and compared whenever the files were closed.

use super::{LOWS, Model, Operation, Refusal, Style, Writer, look, open, perform};
use crate::Oracle;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A program that changes two files in the same way.
#[derive(Clone, Debug)]
pub struct Changes {
    /// What made it.
    pub seed: u64,
    /// What is done between an open and a close.
    pub segments: Vec<Segment>,
}

/// What is done between an open and a close.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The lower version bound, by number.
    pub low: usize,
    /// Both files are changed by libhdf5.
    pub theirs: bool,
    /// Each library goes on with the other's file.
    pub swapped: bool,
    /// One after the other.
    pub operations: Vec<Operation>,
}

/// Operations in each program.
const OPERATIONS: usize = 200;

impl Changes {
    /// The program of a seed.
    pub fn new(seed: u64) -> Changes {
        let low = seed as usize % LOWS.len();
        // Half of the programs start from what libhdf5 made, perhaps of an older version.
        let theirs = (seed / LOWS.len() as u64).is_multiple_of(2);
        let mut writer = Writer::new(seed, Style { loops: true, large_attributes: low > 0, flushes: 40 });
        let older = theirs && writer.one_in(2);
        let first = if older { writer.below(low + 1) } else { low };
        if first == 0 {
            writer = Writer::new(seed, Style { loops: true, large_attributes: false, flushes: 40 });
        }
        let (mut model, mut segments, mut left) = (Model::default(), Vec::new(), OPERATIONS);
        while left > 0 {
            let count = (1 + writer.below(50)).min(left);
            left -= count;
            let mut operations = Vec::new();
            while operations.len() < count {
                let operation = writer.operation(&model);
                if model.apply(&operation) != Err(Refusal::Unclear) {
                    operations.push(operation);
                }
            }
            let begins = segments.is_empty();
            let low = if begins { first } else { low };
            let swapped = !begins && theirs && writer.one_in(2);
            segments.push(Segment { low, theirs: begins && theirs, swapped, operations });
        }
        Changes { seed, segments }
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.operations.len()).sum()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What libhdf5 is asked to do, and then to look at.
#[derive(Serialize)]
struct Question<'a> {
    runs: Vec<Run<'a>>,
    look: Vec<&'a Path>,
    full: bool,
}

#[derive(Serialize)]
struct Run<'a> {
    path: &'a Path,
    low: &'a str,
    new: bool,
    operations: &'a [Operation],
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    /// What refused each operation of each run, if something did; and what is in the files.
    Done { refused: Vec<Vec<Option<String>>>, seen: Vec<BTreeMap<String, Value>> },
    /// The process broke.
    Refused { refused: String },
}

/// What libhdf5 sees in a file, in full.
///
/// # Errors
/// If it cannot read it.
pub fn their_look(oracle: &mut Oracle, path: &Path) -> Result<BTreeMap<String, Value>> {
    let question = Question { runs: Vec::new(), look: vec![path], full: true };
    match oracle.ask(&[question])?.pop().ok_or("no answer")? {
        Answer::Done { mut seen, .. } => Ok(seen.pop().ok_or("no file")?),
        Answer::Refused { refused } => Err(refused.into()),
    }
}

/// Runs a program with files in a directory; says what differs, if anything does.
///
/// # Errors
/// If libhdf5 cannot be asked.
pub fn compare(oracle: &mut Oracle, program: &Changes, directory: &Path) -> Result<Option<String>> {
    let mut paths: [PathBuf; 2] = ["ours.h5", "theirs.h5"].map(|name| directory.join(name));
    let mut model = Model::default();
    for (number, segment) in program.segments.iter().enumerate() {
        if segment.swapped {
            paths.reverse();
        }
        let (operations, expected) = expected(&mut model, &segment.operations);
        let [ours, theirs] = &paths;
        let said = |why: String| {
            let Segment { low, theirs, swapped, .. } = segment;
            let new = if number == 0 { ", new" } else { "" };
            Ok(Some(format!("segment {number} ({}, theirs {theirs}, swapped {swapped}{new}): {why}", LOWS[*low].1)))
        };
        if !segment.theirs
            && let Err(why) = run_ours(ours, segment.low, number == 0, &operations, &expected)
        {
            return said(format!("we: {why}"));
        }
        let run = |path| Run { path, low: LOWS[segment.low].1, new: number == 0, operations: &operations };
        let runs = if segment.theirs { vec![run(ours), run(theirs)] } else { vec![run(theirs)] };
        let answers: Vec<Answer> = oracle.ask(&[Question { runs, look: vec![ours, theirs], full: false }])?;
        let (refused, seen) = match answers.into_iter().next().ok_or("no answer")? {
            Answer::Done { refused, seen } => (refused, seen),
            Answer::Refused { refused } => return said(refused),
        };
        for refused in &refused {
            for ((operation, refused), expected) in operations.iter().zip(refused).zip(&expected) {
                if refused.is_some() != *expected {
                    return said(format!("libhdf5: {operation:?} should be refused: {expected}; {refused:?}"));
                }
            }
        }
        let expected = model.look(false);
        for (path, seen) in paths.iter().zip(&seen) {
            if let Some(why) = difference(&expected, seen) {
                return said(format!("libhdf5 in {}: {why}", path.display()));
            }
            let seen = hyperslab::File::open(path).and_then(|file| look(&file, false));
            let why = seen.map_or_else(|why| Some(why.to_string()), |seen| difference(&expected, &seen));
            if let Some(why) = why {
                return said(format!("we in {}: {why}", path.display()));
            }
        }
    }
    Ok(None)
}

/// The operations whose result is clear, and whether each is refused.
fn expected(model: &mut Model, operations: &[Operation]) -> (Vec<Operation>, Vec<bool>) {
    let known = operations.iter().filter_map(|operation| match model.apply(operation) {
        Ok(()) => Some((operation.clone(), false)),
        Err(Refusal::Refused) => Some((operation.clone(), true)),
        Err(Refusal::Unclear) => None,
    });
    known.unzip()
}

fn run_ours(path: &Path, low: usize, new: bool, operations: &[Operation], expected: &[bool]) -> Result<()> {
    let file = open(path, LOWS[low].0, new)?;
    for (operation, expected) in operations.iter().zip(expected) {
        let done = perform(&file, operation);
        if done.is_err() != *expected {
            return Err(format!("{operation:?} should be refused: {expected}; {done:?}").into());
        }
    }
    Ok(file.close()?)
}

fn difference(expected: &BTreeMap<String, Value>, seen: &BTreeMap<String, Value>) -> Option<String> {
    if let Some((path, extra)) = seen.iter().find(|(path, _)| !expected.contains_key(*path)) {
        return Some(format!("{path} should not be there: {extra}"));
    }
    let (path, record) = expected.iter().find(|(path, record)| seen.get(*path) != Some(record))?;
    Some(format!("{path} should be {record}, but is {}", seen.get(path).unwrap_or(&Value::Null)))
}
