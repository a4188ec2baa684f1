//! A program, run by Hyperslab, by libhdf5 and by the model, and compared whenever the files were closed.

use super::{LOWS, Model, Operation, Refusal, Setup, Style, What, Writer, look, open, perform};
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
    /// How the files are made.
    pub setup: Setup,
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

/// How libhdf5 manages space, and whether it keeps that in the file. Of pages it keeps it in other tests: when it saves what is free there, it now and
/// then never comes to an end, also of files that only it has changed.
const SPACES: [(&str, bool); 4] = [("page", false), ("fsm_aggr", true), ("aggr", false), ("none", false)];

impl Setup {
    /// The file as it is made.
    fn model(self) -> Model {
        let mut model = Model::default();
        if let Some(What::Group(_, ordered)) = model.objects.first_mut().map(|root| &mut root.what) {
            *ordered = self.ordered;
        }
        model
    }
}

impl Changes {
    /// The program of a seed.
    pub fn new(seed: u64) -> Changes {
        let low = seed as usize % LOWS.len();
        // Half of the programs start from what libhdf5 made, perhaps of an older version.
        let theirs = (seed / LOWS.len() as u64).is_multiple_of(2);
        let mut random = fastrand::Rng::with_seed(!seed);
        let mut one_in = |times: u32| random.u32(0..times) == 0;
        let (older, varied) = (theirs && one_in(2), one_in(3));
        let narrow = theirs && one_in(6);
        let setup = Setup {
            // No less than a page of libhdf5's.
            user_block: if one_in(4) { 1024 << u32::from(one_in(2)) } else { 0 },
            ordered: one_in(4),
            narrow,
            small_nodes: theirs && one_in(4),
            // Lists of free space in narrow files are more than libhdf5 survives.
            space: (one_in(2) && !narrow).then(|| *random.choice(SPACES.iter()).unwrap_or(&SPACES[0])),
        };
        let first = if older { random.usize(..=low) } else { low };
        let lows: Vec<usize> = (0..OPERATIONS)
            .map(|nth| match nth {
                0 => first,
                _ if varied => random.usize(..LOWS.len()),
                _ => low,
            })
            .collect();
        // Headers of the first version hold no such attributes.
        let large_attributes = low > 0 && first > 0 && !varied;
        let style = Style { loops: true, large_attributes, narrow, references: !narrow, flushes: 40 };
        let mut writer = Writer::new(seed, style);
        let (mut model, mut segments, mut left) = (setup.model(), Vec::new(), OPERATIONS);
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
            let swapped = !begins && writer.one_in(2);
            let low = lows.get(segments.len()).copied().unwrap_or(low);
            segments.push(Segment { low, theirs: begins && theirs, swapped, operations });
        }
        Changes { seed, setup, segments }
    }

    /// The same, where libhdf5 alone changes both files.
    #[must_use]
    pub fn by_libhdf5(&self) -> Changes {
        let mut alone = self.clone();
        alone.segments.iter_mut().for_each(|segment| (segment.theirs, segment.swapped) = (true, false));
        alone
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
    new: Option<Setup>,
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

/// What came of a program, if it is not what the model says.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Whether libhdf5 failed, or read something else; else we did.
    pub libhdf5: bool,
    /// Where, and what.
    pub why: String,
}

/// Runs a program with files in a directory; says what differs, if anything does.
///
/// # Errors
/// If libhdf5 cannot be asked.
pub fn compare(oracle: &mut Oracle, program: &Changes, directory: &Path) -> Result<Option<Difference>> {
    let mut paths: [PathBuf; 2] = ["ours.h5", "theirs.h5"].map(|name| directory.join(name));
    let mut model = program.setup.model();
    for (number, segment) in program.segments.iter().enumerate() {
        if segment.swapped {
            paths.reverse();
        }
        let (operations, expected) = expected(&mut model, &segment.operations);
        let [ours, theirs] = &paths;
        let new = (number == 0).then_some(program.setup);
        let said = |libhdf5: bool, why: String| {
            let Segment { low, theirs, swapped, .. } = segment;
            let (low, setup) = (LOWS[*low].1, program.setup);
            let why = format!("segment {number} ({low}, theirs {theirs}, swapped {swapped}, {setup:?}): {why}");
            Ok(Some(Difference { libhdf5, why }))
        };
        if !segment.theirs
            && let Err(why) = run_ours(ours, segment.low, new, &operations, &expected)
        {
            return said(false, format!("we: {why}"));
        }
        let run = |path| Run { path, low: LOWS[segment.low].1, new, operations: &operations };
        let runs = if segment.theirs { vec![run(ours), run(theirs)] } else { vec![run(theirs)] };
        let answers: Vec<Answer> = oracle.ask(&[Question { runs, look: vec![ours, theirs], full: false }])?;
        let (refused, seen) = match answers.into_iter().next().ok_or("no answer")? {
            Answer::Done { refused, seen } => (refused, seen),
            Answer::Refused { refused } => return said(true, refused),
        };
        for refused in &refused {
            for ((operation, refused), expected) in operations.iter().zip(refused).zip(&expected) {
                if refused.is_some() != *expected {
                    return said(true, format!("libhdf5: {operation:?} should be refused: {expected}; {refused:?}"));
                }
            }
        }
        let expected = model.look(false);
        for (path, seen) in paths.iter().zip(&seen) {
            if let Some(why) = difference(&expected, seen) {
                return said(true, format!("libhdf5 in {}: {why}", path.display()));
            }
            let seen = hyperslab::File::open(path).and_then(|file| look(&file, false));
            let why = seen.map_or_else(|why| Some(why.to_string()), |seen| difference(&expected, &seen));
            if let Some(why) = why {
                return said(false, format!("we in {}: {why}", path.display()));
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

fn run_ours(path: &Path, low: usize, new: Option<Setup>, operations: &[Operation], expected: &[bool]) -> Result<()> {
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
