//! `hyperslab demo`: records a stream of images, reads it back, and compares.

mod frames;
mod print;

use crate::arguments::Demo;
use crate::failure::Failure;
use crate::output::Output;
use frames::{Frames, PIXELS, SIDE};
use hyperslab::driver::{Existing, Staged};
use hyperslab::{Dataset, s};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::time::{Duration, Instant};

/// Images that are written at once: enough for all cores.
const AT_ONCE: u64 = 8;

pub(crate) fn run(options: &Demo, out: &mut Output) -> Result<(), Failure> {
    if let Some(path) = options.keep.as_ref().filter(|path| path.exists()) {
        return Err(Failure::Exists(path.display().to_string()));
    }
    let path = options.keep.clone().unwrap_or_else(|| std::env::temp_dir().join("hyperslab-demo.h5"));
    let trouble = |why| Failure::Publish { file: path.display().to_string(), why };
    // Gone afterwards, unless it is published.
    let new = Staged::beside(&path).map_err(trouble)?;
    let frames = Frames::new(options.seed);
    let (write, stored) = record(new.path(), &frames, options, out)?;
    let read = verify(new.path(), &frames, options, out)?;
    if options.keep.is_some() {
        new.publish(Existing::Keep).map_err(trouble)?;
    }
    let raw = options.frames * PIXELS as u64 * 2;
    let file = options.keep.as_ref().map(|path| path.display().to_string());
    let results = print::Results::new(file, options.frames, (raw, stored), (write, read));
    Ok(print::print(out, &results, options.json)?)
}

/// Writes all images; how long that took, and how many bytes are stored.
fn record(path: &Path, frames: &Frames, options: &Demo, out: &mut Output) -> Result<(Duration, u64), Failure> {
    let begin = Instant::now();
    let file = options.caching.options().truncate().open(path)?;
    let run = file.root()?.create_group("run")?;
    run.set_attribute("detector", "simulated")?;
    run.set_attribute("seed", options.seed)?;
    run.set_attribute("exposure", 0.01)?;
    let side = SIDE as u64;
    let images = run.new_dataset::<u16>().shape([0, side, side]).max_shape([None, Some(side), Some(side)]);
    let images = images.chunks([1, side, side]).shuffle().deflate(4).create("images")?;
    images.set_attribute("units", "counts")?;
    let mut took = begin.elapsed();
    let mut pixels = vec![0; AT_ONCE as usize * PIXELS];
    let bar = progress("recording", options.frames);
    for first in (0..options.frames).step_by(AT_ONCE as usize) {
        let end = options.frames.min(first + AT_ONCE);
        let some = pixels.get_mut(..(end - first) as usize * PIXELS).unwrap_or_default();
        make(frames, first, some);
        let begin = Instant::now();
        images.resize([end, side, side])?;
        images.write_slice(s![first as i64..end as i64, .., ..], some)?;
        took += begin.elapsed();
        advance(&bar, end, took);
    }
    let begin = Instant::now();
    file.clone().close()?;
    took += begin.elapsed();
    bar.finish_and_clear();
    let stored = file.size();
    options.caching.tell(out, &[(path, file.cache_statistics())], options.json);
    Ok((took, stored))
}

/// Reads all images and compares them with what was sent; how long reading took.
fn verify(path: &Path, frames: &Frames, options: &Demo, out: &mut Output) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let file = options.caching.options().open(path)?;
    let images: Dataset = file.dataset("run/images")?;
    let mut took = begin.elapsed();
    let (mut read, mut sent) = (vec![0u16; AT_ONCE as usize * PIXELS], vec![0; PIXELS]);
    let bar = progress("reading", options.frames);
    for first in (0..options.frames).step_by(AT_ONCE as usize) {
        let end = options.frames.min(first + AT_ONCE);
        let some = read.get_mut(..(end - first) as usize * PIXELS).unwrap_or_default();
        let begin = Instant::now();
        images.slice(s![first as i64..end as i64, .., ..])?.read_into(some)?;
        took += begin.elapsed();
        for (number, image) in (first..end).zip(some.chunks(PIXELS)) {
            frames.make(number, &mut sent);
            if let Some(at) = sent.iter().zip(image).position(|(sent, read)| sent != read) {
                return Err(Failure::Differs { image: number, row: at / SIDE, column: at % SIDE });
            }
        }
        advance(&bar, end, took);
    }
    bar.finish_and_clear();
    options.caching.tell(out, &[(path, file.cache_statistics())], options.json);
    Ok(took)
}

fn make(frames: &Frames, first: u64, pixels: &mut [u16]) {
    for (number, image) in (first..).zip(pixels.chunks_mut(PIXELS)) {
        frames.make(number, image);
    }
}

fn progress(what: &'static str, frames: u64) -> ProgressBar {
    let bar = ProgressBar::new(frames).with_prefix(what);
    match ProgressStyle::with_template("{prefix:9} [{bar:40}] {pos} of {len} images, {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn advance(bar: &ProgressBar, frames: u64, took: Duration) {
    bar.set_message(format!("{:.0} MB/s", print::rate(frames * PIXELS as u64 * 2, took)));
    bar.set_position(frames);
}
