//! `hyperslab check`: is a file whole?

use crate::arguments::Check;
use crate::escape::printable;
use crate::failure::Failure;
use crate::output::Output;
use crate::status::Status;
use crate::style::{ERROR, FAINT, SHAPE};
use crate::text::{bytes, count, lossy};
use hyperslab::check::{Finding, Progress, Report};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// What is found, for other programs.
#[derive(Serialize)]
struct Record<'a> {
    file: String,
    clean: bool,
    objects: u64,
    blocks: u64,
    free: u64,
    lost: u64,
    problems: Vec<FindingRecord<'a>>,
    notes: Vec<FindingRecord<'a>>,
    /// Problems that are left out, and notes that are.
    more_problems: u64,
    more_notes: u64,
}

#[derive(Serialize)]
struct FindingRecord<'a> {
    address: u64,
    what: &'static str,
    /// The path of the object that it belongs to.
    of: Option<String>,
    why: &'a str,
}

/// Checks all files; whether all of them are clean.
pub(crate) fn run(options: &Check, out: &mut Output) -> Result<Status, Failure> {
    let (mut clean, mut trouble) = (true, false);
    for file in &options.files {
        match look(file) {
            Ok(report) => {
                clean &= is_clean(&report, options.strict);
                match options.json {
                    true => json(out, file, &report, options)?,
                    false => text(out, file, &report, options)?,
                }
            }
            Err(why) => {
                // One that cannot be read does not hide the others.
                out.complain(&crate::style::error(&why));
                trouble = true;
            }
        }
    }
    match (trouble, clean) {
        (true, _) => Err(Failure::Some("not all files could be checked".into())),
        (false, true) => Ok(Status::Done),
        (false, false) => Ok(Status::No),
    }
}

/// Looks at a file, with a bar on a terminal if it takes long.
pub(crate) fn look(file: &Path) -> Result<Report, Failure> {
    if !file.exists() && !file.to_string_lossy().contains('%') {
        return Err(Failure::NoFile(file.display().to_string()));
    }
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} of {len} objects [{bar:40}]") {
        bar.set_style(style);
    }
    let report = hyperslab::check::file(file, &mut |Progress { objects, known, .. }| {
        bar.set_length(known);
        bar.set_position(objects);
    });
    bar.finish_and_clear();
    Ok(report?)
}

fn is_clean(report: &Report, strict: bool) -> bool {
    report.problem_count() == 0 && (!strict || report.notes().next().is_none())
}

fn text(out: &mut impl Write, file: &Path, report: &Report, options: &Check) -> io::Result<()> {
    let name = printable(file.display().to_string().as_bytes());
    match report.problem_count() {
        0 => write!(out, "{name}: {SHAPE}whole{SHAPE:#}, {}", seen(report))?,
        some => write!(out, "{name}: {ERROR}{}{ERROR:#}, {}", count(some, "problem"), seen(report))?,
    }
    writeln!(out, "{FAINT}{}{FAINT:#}", unused(report))?;
    let mut left = options.limit;
    list(out, report.problems(), report.more_problems, &mut left)?;
    if options.lost || options.strict {
        list(out, report.notes(), report.more_notes, &mut left)?;
    } else {
        // The report does not tell which of the notes that it leaves out are about lost space.
        list(out, report.notes().filter(|note| note.what != "lost space"), 0, &mut left)?;
    }
    Ok(())
}

/// `12 objects in 40 blocks`.
pub(crate) fn seen(report: &Report) -> String {
    let blocks = report.usage.iter().map(|usage| usage.blocks).sum();
    format!("{} in {}", count(report.objects(), "object"), count(blocks, "block"))
}

fn unused(report: &Report) -> String {
    let lost = if report.lost > 0 { format!(", {} lost", bytes(report.lost)) } else { String::new() };
    if report.free > 0 { format!(", {} free{lost}", bytes(report.free)) } else { lost }
}

/// Lists findings, of which there are some `more`.
fn list<'a>(
    out: &mut impl Write,
    findings: impl Iterator<Item = &'a Finding>,
    more: u64,
    left: &mut usize,
) -> io::Result<()> {
    let mut hidden = more;
    for finding in findings {
        if *left == 0 {
            hidden += 1;
            continue;
        }
        *left -= 1;
        writeln!(out, "  {}", line(finding))?;
    }
    match hidden {
        0 => Ok(()),
        _ => writeln!(out, "  {FAINT}… and {hidden} more{FAINT:#}"),
    }
}

/// `0x1f0  chunk B-tree of /images: its chunks do not rise`.
pub(crate) fn line(finding: &Finding) -> String {
    let owner = finding.owner.as_ref().map_or(String::new(), |path| format!(" of {}", printable(path)));
    let why = printable(finding.why.as_bytes());
    format!("{FAINT}{:#x}{FAINT:#}  {}{owner}: {why}", finding.address, finding.what)
}

fn json(out: &mut impl Write, file: &Path, report: &Report, options: &Check) -> io::Result<()> {
    let line = Record {
        file: file.display().to_string(),
        clean: is_clean(report, options.strict),
        objects: report.objects(),
        blocks: report.usage.iter().map(|usage| usage.blocks).sum(),
        free: report.free,
        lost: report.lost,
        problems: report.problems().map(FindingRecord::from).collect(),
        notes: report.notes().map(FindingRecord::from).collect(),
        more_problems: report.more_problems,
        more_notes: report.more_notes,
    };
    serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
    writeln!(out)
}

impl<'a> From<&'a Finding> for FindingRecord<'a> {
    fn from(finding: &'a Finding) -> FindingRecord<'a> {
        let Finding { address, what, owner, why, .. } = finding;
        FindingRecord { address: *address, what, of: owner.as_deref().map(lossy), why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_are_left_out_are_no_problems() {
        let mut report = Report::default();
        report.more_notes = 5;
        assert!(is_clean(&report, false));
        report.more_problems = 1;
        assert!(!is_clean(&report, false));
    }
}
