//! `hyperslab clear`: takes away marks that a crash left.

use crate::arguments::Clear;
use crate::check::{line, look, seen};
use crate::escape::said;
use crate::failure::Failure;
use crate::output::Output;
use crate::text::count;
use hyperslab::{
    ErrorKind,
    check::{END_OF_FILE, Finding, MARK, Marks},
};
use std::io::Write;

/// Problems that are shown.
const SHOWN: usize = 10;

pub(crate) fn run(options: &Clear, out: &mut Output) -> Result<(), Failure> {
    let report = look(&options.file)?;
    let name = said(&options.file.display());
    let (cleared, problems): (Vec<_>, Vec<_>) = report.problems().partition(|problem| is_cleared(problem));
    if report.marks.bits == 0 && !report.marks.journal && cleared.is_empty() {
        writeln!(out, "{name}: no marks, {}", seen(&report))?;
        return Ok(());
    }
    writeln!(out, "{name}: {}", words(report.marks))?;
    if problems.is_empty() {
        writeln!(out, "the file is whole: {}", seen(&report))?;
    } else {
        writeln!(out, "the file is not whole: {}", count(problems.len() as u64 + report.more_problems, "problem"))?;
        for problem in problems.iter().take(SHOWN) {
            writeln!(out, "  {}", line(problem))?;
        }
        if !options.force {
            return Err(Failure::NotWhole(name));
        }
    }
    hyperslab::check::clear(&options.file, options.force).map_err(|why| match why.kind() {
        ErrorKind::Locked => Failure::Locked(name),
        _ => Failure::File(why),
    })?;
    writeln!(out, "cleared")?;
    Ok(())
}

/// Whether a problem is gone when the file is cleared.
fn is_cleared(problem: &Finding) -> bool {
    matches!(problem.what, END_OF_FILE | MARK)
}

fn words(marks: Marks) -> String {
    match marks {
        Marks { writing: true, swmr: true, .. } => "marked as open for writing while others read".into(),
        Marks { writing: true, whole: true, .. } => {
            "marked as open for writing by a program that keeps the file whole at every instant".into()
        }
        Marks { writing: true, .. } => "marked as open for writing".into(),
        Marks { journal: true, bits: 0, .. } => {
            "a journal is behind its end, of a program that ended without closing the file".into()
        }
        Marks { bits: 0, .. } => {
            "its superblock tells of less than it has, as a program that is killed leaves it".into()
        }
        Marks { bits, .. } => format!("marked with flags {bits:#x} that mean nothing in this version"),
    }
}
