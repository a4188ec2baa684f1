//! Sparse datasets: which elements are defined, with or without their values. The extent is never walked.

use super::Dumper;
use crate::failure::Failure;
use crate::names::Names;
use crate::sparse::{DefinedParts, fill};
use crate::style::FAINT;
use crate::text::count;
use crate::value_json;
use hyperslab::space::{Block, Op, Space};
use hyperslab::{Dataset, Error, Value};
use indicatif::ProgressBar;
use std::io::{self, IsTerminal, Write, stdout};

/// So many lines are shown where large arrays are shown by their corners.
const SHORT: u64 = 1000;

/// More bytes of values than this take a while.
const LONG: u64 = 64 << 20;

/// What is printed of a dataset in place of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sparse {
    /// Blocks of defined elements.
    Locations,
    /// Defined elements, each with its coordinates.
    Elements,
}

/// A line: a block of defined elements, or one of them with its value.
enum Item<'a> {
    Block(&'a Block),
    Element(&'a [u64], &'a Value),
}

/// How a walk over items ended.
struct Walked {
    items: u64,
    /// Whether there are more.
    cut: bool,
    failed: Option<Error>,
}

impl Dumper<'_> {
    /// What is printed of a dataset, if that is no array. A sparse dataset of which no slice is asked for is printed by its defined elements.
    pub(super) fn sparse(&self, dataset: &Dataset) -> Option<Sparse> {
        let options = self.options;
        let is_plain = options.slice.is_none() || options.sparse_data;
        if options.sparse_locations {
            return (dataset.rank() > 0).then_some(Sparse::Locations);
        }
        (dataset.is_sparse() && is_plain).then_some(Sparse::Elements)
    }

    pub(super) fn sparse_text(
        &mut self,
        dataset: &Dataset,
        sparse: Sparse,
        errors: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some(selection) = self.selection(dataset, errors) else { return Ok(()) };
        let mut words = Vec::new();
        let whole = self.options.slice.is_none();
        let defined = stored_defined(dataset).filter(|_| whole);
        words.extend(defined.map(|defined| format!("{} defined", count(defined, "element"))));
        match fill(dataset) {
            Ok(Some(value)) => words.push(format!("the fill value is {}", self.names.show(&value))),
            Ok(None) => words.push("no fill value".into()),
            Err(why) => errors.push(why.to_string()),
        }
        if dataset.is_sparse() {
            writeln!(self.out, "{FAINT}{}{FAINT:#}", words.join(", "))?;
        }
        let most = self.limit().min(if self.brief { SHORT } else { u64::MAX });
        let (out, names) = (&mut *self.out, &self.names);
        let walked = walk(dataset, selection, (sparse, most), &mut |_, item| line(out, &item, names))?;
        if walked.cut {
            match defined.filter(|_| sparse == Sparse::Elements) {
                Some(defined) => writeln!(out, "{FAINT}… and {} more{FAINT:#}", defined.saturating_sub(walked.items))?,
                None => writeln!(out, "{FAINT}…{FAINT:#}")?,
            }
        }
        errors.extend(walked.failed.map(|why| why.to_string()));
        Ok(())
    }

    pub(super) fn sparse_json(
        &mut self,
        dataset: &Dataset,
        sparse: Sparse,
        errors: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some(selection) = self.selection(dataset, errors) else { return Ok(()) };
        let fill = fill(dataset).map_err(|why| errors.push(why.to_string())).ok().flatten();
        self.out.write_all(b",\"fill\":")?;
        value_json::write(self.out, &fill.unwrap_or(Value::Null), &self.names)?;
        let (key, most) = (if sparse == Sparse::Locations { "locations" } else { "elements" }, self.limit());
        write!(self.out, ",\"{key}\":[")?;
        let (out, names) = (&mut *self.out, &self.names);
        let walked = walk(dataset, selection, (sparse, most), &mut |nth, item| {
            out.write_all(if nth > 0 { b"," } else { b"" })?;
            json(out, &item, names)
        })?;
        out.write_all(if walked.cut { b"],\"truncated\":true" } else { b"]" })?;
        errors.extend(walked.failed.map(|why| why.to_string()));
        Ok(())
    }

    /// What is asked for, as a selection.
    fn selection(&self, dataset: &Dataset, errors: &mut Vec<String>) -> Option<Space> {
        let part = self.part(dataset).map_err(|why| errors.push(why)).ok()?;
        let mut space = dataset.space();
        if self.options.slice.is_some() {
            space.select_hyperslab(Op::Set, &part.slabs).map_err(|why| errors.push(why.to_string())).ok()?;
        }
        Some(space)
    }
}

/// How many elements are defined, as the index tells.
fn stored_defined(dataset: &Dataset) -> Option<u64> {
    dataset.stored_sections().ok().flatten().map(|stored| stored.defined)
}

/// Calls `each` for at most so many blocks or elements, with their numbers.
fn walk(
    dataset: &Dataset,
    selection: Space,
    (sparse, most): (Sparse, u64),
    each: &mut dyn FnMut(u64, Item<'_>) -> io::Result<()>,
) -> io::Result<Walked> {
    let mut walked = Walked { items: 0, cut: false, failed: None };
    let defined = stored_defined(dataset).unwrap_or(0);
    let takes_long = defined.saturating_mul(dataset.datatype().size() as u64) > LONG && !stdout().is_terminal();
    let progress = if takes_long { ProgressBar::new(defined) } else { ProgressBar::hidden() };
    let mut visit = |walked: &mut Walked, item: Item<'_>| {
        walked.cut = walked.items >= most;
        if !walked.cut {
            each(walked.items, item)?;
            walked.items += 1;
        }
        io::Result::Ok(!walked.cut)
    };
    let run = |walked: &mut Walked| -> Result<io::Result<()>, Error> {
        for part in DefinedParts::new(dataset, selection)? {
            let part = part?;
            let done = match sparse {
                Sparse::Locations => part.blocks()?.try_for_each(|block| proceed(visit(walked, Item::Block(&block)))),
                Sparse::Elements => {
                    let mut values = part.coords()?.zip(dataset.read_values(&part)?);
                    values.try_for_each(|(coord, value)| match value {
                        Ok(value) => proceed(visit(walked, Item::Element(&coord, &value))),
                        Err(why) => Err(Stop::Failed(why)),
                    })
                }
            };
            match done {
                Ok(()) => progress.inc(part.npoints()),
                Err(Stop::Enough) => break,
                Err(Stop::Failed(why)) => return Err(why),
                Err(Stop::Output(why)) => return Ok(Err(why)),
            }
        }
        Ok(Ok(()))
    };
    let done = run(&mut walked);
    progress.finish_and_clear();
    match done {
        Ok(written) => written?,
        Err(why) => walked.failed = Some(why),
    }
    Ok(walked)
}

/// Why a walk ends before all is visited.
enum Stop {
    Enough,
    Failed(Error),
    Output(io::Error),
}

fn proceed(visited: io::Result<bool>) -> Result<(), Stop> {
    match visited {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::Enough),
        Err(why) => Err(Stop::Output(why)),
    }
}

fn line(out: &mut impl Write, item: &Item<'_>, names: &Names) -> io::Result<()> {
    match item {
        Item::Block(block) if block.start == block.end => writeln!(out, "{}", list(&block.start)),
        Item::Block(block) => writeln!(out, "{} to {}", list(&block.start), list(&block.end)),
        Item::Element(coord, value) => writeln!(out, "{FAINT}{}{FAINT:#}  {}", list(coord), names.show(value)),
    }
}

fn json(out: &mut impl Write, item: &Item<'_>, names: &Names) -> io::Result<()> {
    match item {
        Item::Block(block) => write!(out, "{{\"low\":{},\"high\":{}}}", numbers(&block.start), numbers(&block.end)),
        Item::Element(coord, value) => {
            write!(out, "{{\"at\":{},\"value\":", numbers(coord))?;
            value_json::write(out, value, names)?;
            out.write_all(b"}")
        }
    }
}

fn list(coord: &[u64]) -> String {
    format!("[{}]", coord.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

fn numbers(coord: &[u64]) -> String {
    format!("[{}]", coord.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}
