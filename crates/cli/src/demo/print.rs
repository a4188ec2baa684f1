//! What came of a recording, for people and for other programs.

use crate::escape::printable;
use crate::style::{FAINT, SHAPE};
use crate::table::{right, sheet};
use crate::text::{bytes, count};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

#[derive(Serialize)]
pub(super) struct Results {
    /// If it was kept.
    file: Option<String>,
    frames: u64,
    raw: u64,
    stored: u64,
    ratio: f64,
    write_seconds: f64,
    read_seconds: f64,
    write_rate: f64,
    read_rate: f64,
}

impl Results {
    pub(super) fn new(
        file: Option<String>,
        frames: u64,
        (raw, stored): (u64, u64),
        (write, read): (Duration, Duration),
    ) -> Results {
        Results {
            file,
            frames,
            raw,
            stored,
            ratio: raw as f64 / stored.max(1) as f64,
            write_seconds: write.as_secs_f64(),
            read_seconds: read.as_secs_f64(),
            write_rate: rate(raw, write),
            read_rate: rate(raw, read),
        }
    }
}

/// Millions of bytes a second.
pub(super) fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 / 1e6 / took.as_secs_f64().max(1e-9)
}

pub(super) fn print(out: &mut impl Write, results: &Results, json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, results).map_err(io::Error::from)?;
        return writeln!(out);
    }
    let mut table = sheet(&["", "images", "values", "seconds", "MB/s"]);
    for (what, seconds, rate) in [
        ("recorded", results.write_seconds, results.write_rate),
        ("read back", results.read_seconds, results.read_rate),
    ] {
        let values = [results.frames.to_string(), bytes(results.raw), format!("{seconds:.1}"), format!("{rate:.0}")];
        table.add_row([what.to_owned()].into_iter().chain(values));
    }
    right(&mut table, 1..5);
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    let shape = "images of 1024×1024, u16, each a chunk with shuffle+deflate 4";
    writeln!(out, "{FAINT}{shape}: {} stored ({:.1}×){FAINT:#}", bytes(results.stored), results.ratio)?;
    let frames = count(results.frames, "image");
    writeln!(out, "{SHAPE}every value of {frames} is as it was sent{SHAPE:#}")?;
    match &results.file {
        Some(file) => writeln!(out, "kept in {}", printable(file.as_bytes())),
        None => Ok(()),
    }
}
