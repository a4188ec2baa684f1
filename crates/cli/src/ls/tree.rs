//! The listing as a tree.

use super::record::{Facts, Record};
use crate::attributes;
use crate::escape::printable;
use crate::filter;
use crate::names::Names;
use crate::style::{DATASET, FAINT, GROUP, LINK, SHAPE, TYPE, error};
use crate::text::{self, bytes, count, sizes, whole_size};
use crate::walk::{Entry, Met};
use std::io::{self, Write};

/// Names are padded to the longest in their group, up to this.
const WIDEST_NAME: usize = 28;

/// Values of an attribute that are shown.
const ATTRIBUTE_VALUES: u64 = 8;

pub(crate) fn line(out: &mut impl Write, entry: &Entry, record: &Record) -> io::Result<()> {
    let name = match entry.last.is_empty() {
        true => printable(&entry.path),
        false => printable(&entry.name),
    };
    let style = match record.kind {
        "group" => GROUP,
        "dataset" => DATASET,
        "datatype" => TYPE,
        _ => LINK,
    };
    write!(out, "{FAINT}{}{FAINT:#}{style}{name}{style:#}", branch(&entry.last))?;
    let pad = entry.widest.min(WIDEST_NAME).saturating_sub(name.chars().count());
    match &entry.met {
        Met::Object(_) => object(out, record, pad)?,
        Met::Again(first) => write!(out, "{:pad$} {FAINT}={FAINT:#} {}", "", printable(first))?,
        Met::Soft(target, leads) => {
            write!(out, "{:pad$} {FAINT}→{FAINT:#} {}", "", printable(target))?;
            if !leads {
                write!(out, "  {FAINT}(leads nowhere){FAINT:#}")?;
            }
        }
        Met::External { file, path } => {
            write!(out, "{:pad$} {FAINT}→{FAINT:#} {}:{}", "", printable(file), printable(path))?;
        }
        Met::User(class) => write!(out, "{:pad$} {FAINT}→ user-defined link of class {class}{FAINT:#}", "")?,
        Met::Broken(_) => {}
    }
    for why in &record.errors {
        write!(out, "  {}", error(why))?;
    }
    writeln!(out)
}

fn object(out: &mut impl Write, record: &Record, pad: usize) -> io::Result<()> {
    if let Some(datatype) = &record.datatype {
        write!(out, "{:pad$}  {TYPE}{}{TYPE:#}", "", text::datatype(datatype))?;
    }
    let Some(facts) = &record.dataset else { return Ok(()) };
    let shape = match facts.shape.as_deref() {
        None => "empty".to_owned(),
        Some([]) => "scalar".to_owned(),
        Some(dims) => sizes(dims),
    };
    write!(out, "  {SHAPE}{shape}{SHAPE:#}")?;
    if let Some(max) = &facts.max {
        let max: Vec<u64> = max.iter().map(|max| max.unwrap_or(u64::MAX)).collect();
        write!(out, " {FAINT}(up to {}){FAINT:#}", sizes(&max))?;
    }
    let storage = storage(facts);
    if !storage.is_empty() {
        write!(out, "  {FAINT}{storage}{FAINT:#}")?;
    }
    Ok(())
}

/// How and how small values are stored; nothing of what is as usual and short.
fn storage(facts: &Facts) -> String {
    let mut words = Vec::new();
    match facts.layout {
        "contiguous" => {}
        "chunked" => words.push(format!("chunks {}", facts.chunk.as_deref().map_or_else(String::new, sizes))),
        "sparse" => words.push(format!("sparse chunks {}", facts.chunk.as_deref().map_or_else(String::new, sizes))),
        "virtual" => words.push(format!("virtual, {}", count(facts.sources.len() as u64, "source"))),
        "external" => words.push(format!("in {}", printable(facts.sources.join(", ").as_bytes()))),
        other => words.push(other.into()),
    }
    if !facts.filters.is_empty() {
        words.push(filter::words(&facts.filters));
    }
    if let Some(sparse) = &facts.sparse {
        words.push(sparse.filter_words());
        let density = sparse.density_words().map_or(String::new(), |density| format!(" ({density})"));
        words.extend(sparse.defined.map(|defined| format!("{defined} defined{density}")));
        words.retain(|words| !words.is_empty());
    }
    match facts.stored {
        None => {}
        Some(_) if facts.layout == "virtual" => words.push(whole_size(facts.bytes)),
        Some(0) if facts.bytes != Some(0) => words.push("nothing stored".into()),
        Some(stored) if Some(stored) == facts.bytes => words.push(bytes(stored)),
        Some(stored) => {
            let ratio = facts.bytes.map(|whole| format!(" ({:.1}×)", whole as f64 / stored.max(1) as f64));
            words.push(format!("{} in {}{}", whole_size(facts.bytes), bytes(stored), ratio.unwrap_or_default()));
        }
    }
    words.join(", ")
}

/// The attributes below the line of their object; says how many objects failed, none or one.
pub(crate) fn attributes(out: &mut impl Write, entry: &Entry, names: &Names) -> io::Result<u64> {
    let Met::Object(node) = &entry.met else { return Ok(0) };
    let indent: String = entry.last.iter().map(|&last| if last { "    " } else { "│   " }).collect();
    let mut errors = Vec::new();
    let mut whole = true;
    for attribute in attributes::readable(node, &mut errors) {
        write!(out, "{FAINT}{indent}{FAINT:#}  ")?;
        whole &= attributes::line(out, &attribute, names, ATTRIBUTE_VALUES)?;
    }
    for why in &errors {
        writeln!(out, "{FAINT}{indent}{FAINT:#}  {}", error(why))?;
    }
    Ok(u64::from(!whole || !errors.is_empty()))
}

fn branch(last: &[bool]) -> String {
    let Some((here, above)) = last.split_last() else { return String::new() };
    let mut text: String = above.iter().map(|&last| if last { "    " } else { "│   " }).collect();
    text.push_str(if *here { "└── " } else { "├── " });
    text
}
