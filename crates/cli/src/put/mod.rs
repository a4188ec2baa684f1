//! `hyperslab new` and `hyperslab put`: small files and values from the shell.
//!
//! Everything that can be wrong with what was asked for is found out before the file changes: words are held against the type that they
//! are stored as ([`fit`]), and what is made anew is made in memory first.

mod attribute;
mod fit;
mod round;
mod write;

use crate::arguments::{Kind, New, Put};
use crate::escape::printable;
use crate::failure::Failure;
use crate::new_file::Target;
use crate::output::Output;
use crate::text::count;
use attribute::Attribute;
use hyperslab::OpenOptions;
use std::io::{Read, Write};
use write::Job;

pub(crate) fn new(options: &New) -> Result<(), Failure> {
    Target::create(&options.file, OpenOptions::new().libver_min(options.libver_min))?.finish()
}

pub(crate) fn run(options: &Put, out: &mut Output) -> Result<(), Failure> {
    let attributes = options.attr.iter().map(|text| Attribute::new(text)).collect::<Result<Vec<_>, _>>()?;
    let words = words(options)?;
    let job = Job { options, words: words.as_deref(), attributes: &attributes };
    let how = options.caching.options().libver_min(options.libver_min).libver_max(options.libver_max);
    let how = how.durability(options.durable.durability);
    let target = Target::open(&options.file, how)?;
    job.run(target.file())?;
    let file = target.file().clone();
    target.finish()?;
    options.caching.tell(out, &[(&options.file, file.cache_statistics())], false);
    let path = printable(options.path.as_bytes());
    if let Some(words) = words {
        writeln!(out, "{path}: {} written", count(words.len() as u64, "value"))?;
    }
    if !attributes.is_empty() {
        writeln!(out, "{path}: {} set", count(attributes.len() as u64, "attribute"))?;
    }
    Ok(())
}

/// The values in words; nothing if there are none to be written.
fn words(options: &Put) -> Result<Option<Vec<String>>, Failure> {
    if !options.values.is_empty() && options.values != ["-"] {
        return Ok(Some(options.values.clone()));
    }
    if options.values.is_empty() && !options.attr.is_empty() {
        return Ok(None);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(Failure::Input)?;
    let words: Vec<String> = match options.kind {
        Some(Kind::Text) => text.lines().map(str::to_owned).collect(),
        _ => text.split_whitespace().map(str::to_owned).collect(),
    };
    if words.is_empty() { Err(Failure::NoValues) } else { Ok(Some(words)) }
}
