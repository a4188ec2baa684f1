//! Values as JSON: numbers with all their digits, what JSON has no number for as text, bytes as hexadecimal text.

use crate::names::{self, Names};
use hyperslab::{Part, Referent, Value};
use std::io::{self, Write};

pub(crate) fn write(out: &mut impl Write, value: &Value, names: &Names) -> io::Result<()> {
    match value {
        Value::Null => out.write_all(b"null"),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::Signed(number) => write!(out, "{number}"),
        Value::Unsigned(number) => write!(out, "{number}"),
        Value::F32(number) if number.is_finite() => write!(out, "{number:?}"),
        Value::F64(number) if number.is_finite() => write!(out, "{number:?}"),
        Value::F32(number) => text(out, not_finite(f64::from(*number))),
        Value::F64(number) => text(out, not_finite(*number)),
        Value::Extended { near, bytes } => {
            out.write_all(b"{\"near\":")?;
            write(out, &Value::F64(*near), names)?;
            out.write_all(b",\"bytes\":")?;
            text(out, &hex(bytes))?;
            out.write_all(b"}")
        }
        Value::Complex(parts) => list(out, &parts[..], names),
        Value::Text(bytes) => text(out, &String::from_utf8_lossy(bytes)),
        Value::Bytes(bytes) => text(out, &hex(bytes)),
        Value::Bits { bits, .. } => write!(out, "{bits}"),
        Value::Enum { name: Some(name), .. } => text(out, &name.to_string()),
        Value::Enum { name: None, value } => write(out, value, names),
        Value::Compound(members) => {
            out.write_all(b"{")?;
            for (nth, (name, value)) in members.iter().enumerate() {
                out.write_all(if nth > 0 { b"," } else { b"" })?;
                text(out, &name.to_string())?;
                out.write_all(b":")?;
                write(out, value, names)?;
            }
            out.write_all(b"}")
        }
        Value::Array(values) | Value::Sequence(values) => list(out, values, names),
        Value::Reference(referent) => reference(out, referent, names),
        Value::Dangling { bytes, .. } => {
            out.write_all(b"{\"dangling\":")?;
            text(out, &hex(bytes))?;
            out.write_all(b"}")
        }
        other => text(out, &names.show(other)),
    }
}

fn list(out: &mut impl Write, values: &[Value], names: &Names) -> io::Result<()> {
    out.write_all(b"[")?;
    for (nth, value) in values.iter().enumerate() {
        out.write_all(if nth > 0 { b"," } else { b"" })?;
        write(out, value, names)?;
    }
    out.write_all(b"]")
}

/// What is meant: the path of the object, or its address where no path leads to it, and which part.
fn reference(out: &mut impl Write, referent: &Referent, names: &Names) -> io::Result<()> {
    match names.path(referent) {
        Some(path) => {
            out.write_all(b"{\"object\":")?;
            text(out, &String::from_utf8_lossy(&path))?;
        }
        None => write!(out, "{{\"address\":{}", referent.address)?,
    }
    if let Some(file) = &referent.file {
        out.write_all(b",\"file\":")?;
        text(out, &String::from_utf8_lossy(file))?;
    }
    match &referent.part {
        Part::Object => {}
        Part::Region(space) => {
            write!(out, ",\"elements\":{},\"region\":", space.npoints())?;
            text(out, &names::region(space))?;
        }
        Part::Attribute(name) => {
            out.write_all(b",\"attribute\":")?;
            text(out, &String::from_utf8_lossy(name))?;
        }
    }
    out.write_all(b"}")
}

pub(crate) fn text(out: &mut impl Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}

fn not_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
