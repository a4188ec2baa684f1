//! Attributes, for listings and dumps.

use crate::escape::printable;
use crate::names::Names;
use crate::nested::{self, Shape};
use crate::style::{ATTRIBUTE, SHAPE, TYPE};
use crate::text::{self, dims, lossy, shape};
use hyperslab::{Attribute, Node};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};

/// An attribute for other programs.
#[derive(Serialize)]
pub(crate) struct AttributeRecord {
    name: String,
    #[serde(rename = "type")]
    datatype: String,
    shape: Option<Vec<u64>>,
    /// Nested as the shape says.
    value: Option<Box<RawValue>>,
}

/// All attributes of an object; what cannot be read is noted and does not hide the others.
pub(crate) fn records(node: &Node, names: &Names, errors: &mut Vec<String>) -> Vec<AttributeRecord> {
    let mut records = Vec::new();
    for attribute in readable(node, errors) {
        let name = lossy(&attribute.name);
        let value = json(&attribute, names).map_err(|why| errors.push(format!("attribute {name}: {why}")));
        let (datatype, shape) = (attribute.datatype.to_string(), dims(&attribute.extent));
        records.push(AttributeRecord { name, datatype, shape, value: value.ok() });
    }
    records
}

/// The attributes that can be understood.
pub(crate) fn readable(node: &Node, errors: &mut Vec<String>) -> Vec<Attribute> {
    let found = node.attributes().unwrap_or_else(|why| vec![Err(why)]);
    let mut note = |why: hyperslab::Error| errors.push(format!("attribute: {why}"));
    found.into_iter().filter_map(|attribute| attribute.map_err(&mut note).ok()).collect()
}

fn json(attribute: &Attribute, names: &Names) -> Result<Box<RawValue>, String> {
    let values = attribute.read_values().map_err(|why| why.to_string())?;
    let mut text = Vec::new();
    let told = nested::json(&mut text, attribute.extent.dims(), values, names, u64::MAX);
    if let Some(why) = told.map_err(|why| why.to_string())?.failed {
        return Err(why.to_string());
    }
    let text = if attribute.extent.is_null() { "null".into() } else { String::from_utf8_lossy(&text).into_owned() };
    RawValue::from_string(text).map_err(|why| why.to_string())
}

/// `@name  type shape = value`, on one line with at most `most` values. Says whether they could be read.
pub(crate) fn line(out: &mut impl Write, attribute: &Attribute, names: &Names, most: u64) -> io::Result<bool> {
    let name = printable(&attribute.name);
    let datatype = text::datatype(&attribute.datatype.to_string());
    write!(out, "{ATTRIBUTE}@{name}{ATTRIBUTE:#}  {TYPE}{datatype}{TYPE:#}")?;
    if attribute.extent.rank() > 0 {
        write!(out, "  {SHAPE}{}{SHAPE:#}", shape(&attribute.extent))?;
    }
    if attribute.extent.is_null() {
        writeln!(out, "  empty")?;
        return Ok(true);
    }
    write!(out, " = ")?;
    let one_line = Shape::new(attribute.extent.dims(), usize::MAX);
    let failed = match attribute.read_values() {
        Ok(values) => nested::text(out, &one_line, values, names, most)?.failed,
        Err(why) => Some(why),
    };
    match &failed {
        Some(why) => writeln!(out, "{}", crate::style::error(why))?,
        None => writeln!(out)?,
    }
    Ok(failed.is_none())
}
