//! `hyperslab new` and `hyperslab put`: small files and values from the shell.

use crate::arguments::{Kind, New, Put};
use crate::failure::Failure;
use crate::output;
use crate::text::{count, printable};
use hyperslab::{Dataset, File, Group, NewDataset, Node, OpenOptions, Storable};
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;

pub(crate) fn new(options: &New) -> Result<(), Failure> {
    if options.file.exists() {
        return Err(Failure::Exists(options.file.display().to_string()));
    }
    let file = OpenOptions::new().create_new().low(options.low).open(&options.file);
    file.and_then(File::close).map_err(|why| trouble(&options.file, why))
}

pub(crate) fn run(options: &Put) -> Result<(), Failure> {
    let attributes = options.attr.iter().map(|text| attribute(text)).collect::<Result<Vec<_>, _>>()?;
    let words = words(options)?;
    let made = !options.file.exists();
    let how = options.caching.options().create().low(options.low).durability(options.durable.durability);
    let file = how.open(&options.file);
    let file = file.map_err(|why| trouble(&options.file, why))?;
    let done = put(options, &file, words.as_deref(), &attributes);
    let closed = file.clone().close().map_err(|why| trouble(&options.file, why));
    if done.is_err() && made {
        // Nobody asked for a file without the values.
        let _ = std::fs::remove_file(&options.file);
    }
    done.and(closed)?;
    options.caching.tell(&[(&options.file, file.cache_statistics())], false);
    let (mut out, path) = (output::standard(false), printable(options.path.as_bytes()));
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
    std::io::stdin().read_to_string(&mut text)?;
    let words: Vec<String> = match options.kind {
        Some(Kind::Text) => text.lines().map(str::to_owned).collect(),
        _ => text.split_whitespace().map(str::to_owned).collect(),
    };
    if words.is_empty() { Err(Failure::NoValues) } else { Ok(Some(words)) }
}

fn put(options: &Put, file: &File, words: Option<&[String]>, attributes: &[(&str, &str)]) -> Result<(), Failure> {
    let (root, path) = (file.root()?, options.path.as_str());
    let object = |why| Failure::Object { path: path.into(), why: Box::new(why) };
    if let Some(words) = words {
        match file.get(path) {
            Ok(Node::Dataset(dataset)) if !describes(options) => overwrite(&dataset, path, words)?,
            Ok(Node::Dataset(_)) => {
                // The old one goes when the new one is there.
                let beside = format!("{path}~new");
                create(options, &root, &beside, words)?;
                root.delete(path).and_then(|()| root.rename(&beside, path)).map_err(object)?;
            }
            _ => create(options, &root, path, words)?,
        }
    }
    let node = match file.get(path) {
        Ok(node) => node,
        Err(hyperslab::Error::Missing(_)) => Node::Group(root.require_group(path).map_err(object)?),
        Err(why) => return Err(object(why)),
    };
    attributes.iter().try_for_each(|(name, value)| set(&node, name, value)).map_err(object)
}

/// Whether it is said what the dataset is like.
fn describes(options: &Put) -> bool {
    options.kind.is_some() || options.shape.is_some() || options.chunks.is_some() || options.filter.is_some()
}

fn overwrite(dataset: &Dataset, path: &str, words: &[String]) -> Result<(), Failure> {
    let wanted = dataset.extent().elements();
    if wanted != words.len() as u64 {
        return Err(Failure::Count { path: path.into(), wanted, given: words.len() });
    }
    match usual(words) {
        Kind::I64 => dataset.write(&numbers::<i64>(words, "whole number")?),
        Kind::F64 => dataset.write(&numbers::<f64>(words, "number")?),
        _ => dataset.write(words),
    }
    .map_err(|why| Failure::Object { path: path.into(), why: Box::new(why) })
}

fn create(options: &Put, root: &Group, path: &str, words: &[String]) -> Result<(), Failure> {
    match options.kind.unwrap_or_else(|| usual(words)) {
        Kind::I8 => write(options, root, path, &numbers::<i8>(words, "i8")?),
        Kind::I16 => write(options, root, path, &numbers::<i16>(words, "i16")?),
        Kind::I32 => write(options, root, path, &numbers::<i32>(words, "i32")?),
        Kind::I64 => write(options, root, path, &numbers::<i64>(words, "i64")?),
        Kind::U8 => write(options, root, path, &numbers::<u8>(words, "u8")?),
        Kind::U16 => write(options, root, path, &numbers::<u16>(words, "u16")?),
        Kind::U32 => write(options, root, path, &numbers::<u32>(words, "u32")?),
        Kind::U64 => write(options, root, path, &numbers::<u64>(words, "u64")?),
        Kind::F32 => write(options, root, path, &numbers::<f32>(words, "f32")?),
        Kind::F64 => write(options, root, path, &numbers::<f64>(words, "f64")?),
        Kind::Text => write(options, root, path, words),
    }
}

fn write<T: Storable>(options: &Put, root: &Group, path: &str, values: &[T]) -> Result<(), Failure> {
    let new: NewDataset = root.new_dataset::<T>();
    let is_stored = options.chunks.is_some() || options.filter.as_ref().is_some_and(|filters| !filters.is_empty());
    let new = match &options.shape {
        Some(shape) => new.shape(&shape.0),
        None if values.len() == 1 && !is_stored => new.scalar(),
        None => new,
    };
    let new = options.chunks.iter().fold(new, |new, chunk| new.chunks(&chunk.0));
    let new = options.filter.iter().fold(new, |new, filters| filters.give(new));
    let made = new.write(path, values);
    made.map(drop).map_err(|why| Failure::Object { path: options.path.clone(), why: Box::new(why) })
}

/// What values are if nobody says it.
fn usual(words: &[String]) -> Kind {
    let all = |are: fn(&str) -> bool| words.iter().all(|word| are(word));
    match () {
        () if all(|word| word.parse::<i64>().is_ok()) => Kind::I64,
        () if all(|word| word.parse::<f64>().is_ok()) => Kind::F64,
        () => Kind::Text,
    }
}

fn numbers<T: FromStr>(words: &[String], kind: &'static str) -> Result<Vec<T>, Failure> {
    words.iter().map(|text| text.parse().map_err(|_| Failure::Value { text: text.clone(), kind })).collect()
}

/// The name and the value.
fn attribute(text: &str) -> Result<(&str, &str), Failure> {
    text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| Failure::Attribute(text.into()))
}

fn set(node: &Node, name: &str, value: &str) -> hyperslab::Result<()> {
    match (value.parse::<i64>(), value.parse::<f64>()) {
        (Ok(value), _) => node.set_attribute(name, value),
        (_, Ok(value)) => node.set_attribute(name, value),
        _ => node.set_attribute(name, value),
    }
}

fn trouble(path: &Path, why: hyperslab::Error) -> Failure {
    Failure::Write { file: path.display().to_string(), why: Box::new(why) }
}
