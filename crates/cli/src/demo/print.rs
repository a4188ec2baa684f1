//! What came of a demo, for people and for other programs.

use super::bar::rate;
use super::detector::Pattern;
use super::size::Size;
use super::stream::{Stored, Taken};
use crate::arguments::Demo;
use crate::escape::printable;
use crate::style::{FAINT, SHAPE};
use crate::table::{right, sheet};
use crate::text::{bytes, count, lossy, percent};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
pub(super) struct Results {
    /// If it was kept.
    file: Option<String>,
    picture: String,
    images: u64,
    height: u64,
    width: u64,
    seed: u64,
    streams: Vec<StreamResults>,
}

#[derive(Serialize)]
struct StreamResults {
    pattern: &'static str,
    /// Pixels of all its images.
    defined: u64,
    datasets: Vec<DatasetResults>,
}

#[derive(Serialize)]
struct DatasetResults {
    name: &'static str,
    layout: &'static str,
    images: u64,
    bytes: u64,
    /// For each pixel that is sent; of full images for each pixel.
    bytes_per_defined: f64,
    write_seconds: f64,
    read_seconds: f64,
    write_rate: f64,
    read_rate: f64,
}

impl Results {
    pub(super) fn new(options: &Demo, Size { height, width }: Size) -> Results {
        let name = |path: &std::path::PathBuf| lossy(path.as_os_str().as_encoded_bytes());
        let (file, picture) = (options.keep.as_ref().map(name), name(&options.picture));
        Results { file, picture, images: options.images, height, width, seed: options.seed, streams: Vec::new() }
    }

    pub(super) fn add(&mut self, pattern: Pattern, defined: u64, taken: &[Taken]) {
        let pixels = self.height * self.width;
        let datasets = taken.iter().map(|taken| {
            let values = if let Stored::Full { .. } = taken.stored { pixels * taken.images } else { defined };
            DatasetResults {
                name: taken.stored.name(),
                layout: if taken.stored == Stored::Sparse { "sparse" } else { "dense" },
                images: taken.images,
                bytes: taken.bytes,
                bytes_per_defined: taken.bytes as f64 / values.max(1) as f64,
                write_seconds: taken.writing.as_secs_f64(),
                read_seconds: taken.reading.as_secs_f64(),
                write_rate: rate(taken.images, taken.writing),
                read_rate: rate(taken.images, taken.reading),
            }
        });
        self.streams.push(StreamResults { pattern: pattern.name(), defined, datasets: datasets.collect() });
    }
}

pub(super) fn print(out: &mut impl Write, results: &Results, json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, results).map_err(io::Error::from)?;
        return writeln!(out);
    }
    let Results { images, height, width, .. } = *results;
    let head = ["stream", "defined", "stored", "images", "written/s", "read/s", "on disk", "per defined pixel"];
    let mut table = sheet(&head);
    for stream in &results.streams {
        let part = 100.0 * stream.defined as f64 / (images * height * width).max(1) as f64;
        let mut told = [stream.pattern.to_owned(), percent(part)];
        for dataset in &stream.datasets {
            let numbers = [
                dataset.images.to_string(),
                format!("{:.0}", dataset.write_rate),
                format!("{:.0}", dataset.read_rate),
                bytes(dataset.bytes),
                format!("{:.2} B", dataset.bytes_per_defined),
            ];
            let stored = if dataset.name == "full" { "dense, in full" } else { dataset.layout };
            // The names of a stream are in the first of its rows.
            let told = std::mem::take(&mut told).into_iter().chain([stored.to_owned()]);
            table.add_row(told.chain(numbers));
        }
    }
    right(&mut table, 3..8);
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    let shape = format!("{} of {height}×{width} pixels in each stream, u16", count(images, "image"));
    writeln!(out, "{FAINT}{shape}, chunks of one image with deflate 1; rates are images a second{FAINT:#}")?;
    writeln!(out, "{SHAPE}every pixel is as it was sent: where it is defined, and what it counts{SHAPE:#}")?;
    writeln!(out, "picture of image {}: {}", images / 2, printable(results.picture.as_bytes()))?;
    match &results.file {
        Some(file) => writeln!(out, "kept in {}", printable(file.as_bytes())),
        None => Ok(()),
    }
}
