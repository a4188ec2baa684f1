//! `hyperslab stat`: what the bytes of a file are used for.

mod record;
mod sparse;

use crate::arguments::Stat;
use crate::check::look;
use crate::escape::printable;
use crate::failure::Failure;
use crate::find;
use crate::output::Output;
use crate::style::{FAINT, GROUP, error};
use crate::table::{right, sheet};
use crate::text::{bytes, count, whole_size};
use record::{DatasetRecord, Record, Unread};
use std::io::{self, Write};

pub(crate) fn run(options: &Stat, out: &mut Output) -> Result<(), Failure> {
    let report = look(&options.file)?;
    let file = find::open(&options.file)?;
    let record = Record::new(&options.file, &file, &report)?;
    match options.json {
        true => {
            serde_json::to_writer(&mut *out, &record).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        false => text(out, &record, options.datasets)?,
    }
    for Unread { path, why } in &record.unread {
        out.complain(&error(&format_args!("{}: {why}", printable(path.as_bytes()))));
    }
    match (report.problem_count(), record.unread.len() as u64) {
        (0, 0) => Ok(()),
        (0, unread) => Err(Failure::Some(format!("{} could not be counted", count(unread, "object")))),
        (problems, _) => Err(Failure::Some(format!(
            "the file has {}, so that numbers may be wrong; see `hyperslab check`",
            count(problems, "problem")
        ))),
    }
}

fn text(out: &mut impl Write, record: &Record, most: usize) -> io::Result<()> {
    let objects = &record.objects;
    writeln!(out, "{GROUP}{}{GROUP:#}  {}", printable(record.file.as_bytes()), bytes(record.size))?;
    writeln!(
        out,
        "{}, {}, {}, {}",
        count(objects.groups, "group"),
        count(objects.datasets, "dataset"),
        count(objects.datatypes, "committed datatype"),
        count(objects.links, "link"),
    )?;
    writeln!(out, "{FAINT}{}{FAINT:#}\n", form(record))?;
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / record.size.max(1) as f64);
    let mut table = sheet(&["used for", "blocks", "bytes", "share"]);
    for kind in &record.blocks {
        table.add_row([kind.what.to_owned(), kind.blocks.to_string(), bytes(kind.bytes), share(kind.bytes)]);
    }
    let totals = &record.bytes;
    let rest = [
        ("user block", totals.user_block),
        ("listed as free", totals.free),
        ("lost", totals.lost),
        ("all metadata", totals.metadata),
        ("all values", totals.values),
    ];
    for (what, size) in rest.into_iter().filter(|(_, size)| *size > 0) {
        table.add_row([what.to_owned(), String::new(), bytes(size), share(size)]);
    }
    right(&mut table, 1..4);
    writeln!(out, "{}", table.trim_fmt())?;
    datasets(out, &record.datasets, most)?;
    sparse::table(out, &record.datasets, most)
}

/// Versions and how space is managed.
fn form(record: &Record) -> String {
    let mut words = vec![format!("superblock {}", record.superblock)];
    match record.headers {
        [0, 0] => {}
        [0, _] => words.push("object headers 2".into()),
        [_, 0] => words.push("object headers 1".into()),
        [first, second] => words.push(format!("object headers 1 ({first}) and 2 ({second})")),
    }
    words.push(match (record.space.strategy, record.space.page) {
        ("pages", Some(page)) => format!("space in pages of {}", bytes(page)),
        ("managers", _) => "space by managers".into(),
        ("gathered", _) => "space gathered".into(),
        ("end", _) => "space from the end".into(),
        _ => "space as usual".into(),
    });
    if record.space.persists {
        words.push("free space is kept".into());
    }
    words.join(", ")
}

fn datasets(out: &mut impl Write, datasets: &[DatasetRecord], most: usize) -> io::Result<()> {
    if datasets.is_empty() || most == 0 {
        return Ok(());
    }
    let mut table = sheet(&["dataset", "values", "stored", "ratio", "chunks"]);
    for dataset in datasets.iter().take(most) {
        let ratio = match (dataset.bytes, dataset.stored) {
            (None, _) | (_, 0) => String::new(),
            (Some(whole), stored) => format!("{:.2}×", whole as f64 / stored as f64),
        };
        let chunks = dataset.chunks.map_or(String::new(), |chunks| chunks.to_string());
        let path = printable(dataset.path.as_bytes());
        table.add_row([path, whole_size(dataset.bytes), bytes(dataset.stored), ratio, chunks]);
    }
    right(&mut table, 1..5);
    writeln!(out, "\n{}", table.trim_fmt())?;
    more(out, datasets.len().saturating_sub(most))
}

/// How many rows a table leaves out.
fn more(out: &mut impl Write, hidden: usize) -> io::Result<()> {
    match hidden {
        0 => Ok(()),
        _ => writeln!(out, "{FAINT}… and {hidden} more{FAINT:#}"),
    }
}
