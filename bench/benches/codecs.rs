//! Each codec beside libhdf5 and hdf5plugin: encode and decode of a chunk on one thread, and its size. Run by `cargo xtask bench --codecs`, which
//! sets up the Python environment; the table is in `docs/benchmarks.md`. Arguments are parts of names: only such cases run.
//!
//! Theirs is timed by `codecs.py`, in turn with ours, which uses the parameters that libhdf5 has stored. Times are those that the thread worked, since the
//! machine may be shared, and the least of all turns, since its speed may change.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use hyperslab_filter::*;
use rustix::time::{ClockId, clock_gettime};

const CHUNK: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_millis(60);
const TURNS: usize = 7;

fn main() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let chunks = [("u16", counts()), ("f32", field())];
    for (kind, values) in &chunks {
        fs::write(folder.join(format!("{kind}.bin")), values).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/codecs.py");
    // Cargo adds an argument of its own.
    let names = std::env::args().skip(1).filter(|name| name != "--bench");
    let mut command = Command::new(python);
    command.arg(script).arg(folder).args(names).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut asked, mut replies) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut ask = |what: &str| {
        writeln!(asked, "{what}").unwrap();
        replies.next().unwrap().unwrap()
    };
    println!("| codec | type | encode MB/s | theirs ÷ ours | decode MB/s | theirs ÷ ours | size ours ÷ theirs |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    while let [name, kind, size, steps] = ask("next").split('|').collect::<Vec<_>>()[..] {
        let (_, values) = chunks.iter().find(|(known, _)| *known == kind).unwrap();
        let mut ours = Ours::new(steps, values);
        let mut least = [[f64::INFINITY; 2]; 2];
        for _ in 0..TURNS {
            let theirs = ask("turn");
            for ([our_least, their_least], (theirs, ours)) in least.iter_mut().zip(theirs.split('|').zip(ours.times()))
            {
                *our_least = our_least.min(ours.as_secs_f64());
                *their_least = their_least.min(theirs.parse().unwrap());
            }
        }
        let [encode, decode] = least.map(|[ours, _]| values.len() as f64 / ours / 1e6);
        let [encode_ratio, decode_ratio] = least.map(|[ours, theirs]| theirs / ours);
        let size = ours.stored.len() as f64 / size.parse::<f64>().unwrap();
        println!("| {name} | {kind} | {encode:.0} | {encode_ratio:.2} | {decode:.0} | {decode_ratio:.2} | {size:.3} |");
    }
    assert!(child.wait().unwrap().success());
}

struct Ours<'a> {
    pipeline: Pipeline,
    registry: Registry,
    values: &'a [u8],
    stored: Vec<u8>,
    mask: u32,
}

impl<'a> Ours<'a> {
    fn new(steps: &str, values: &'a [u8]) -> Ours<'a> {
        let step = |step: &str| {
            let (id, params) = step.split_once(':').unwrap();
            let params = params.split(',').filter(|param| !param.is_empty()).map(|param| param.parse().unwrap());
            Step::optional(id.parse().unwrap(), params.collect())
        };
        let (pipeline, registry) = (Pipeline::new(steps.split(';').map(step).collect()).unwrap(), Registry::default());
        let (mut stored, mut scratch) = (Vec::new(), Vec::new());
        let mask = pipeline.encode(&registry, values, 0, &mut stored, &mut scratch).unwrap();
        Ours { pipeline, registry, values, stored, mask }
    }

    /// Of encoding and decoding.
    fn times(&mut self) -> [Duration; 2] {
        let Ours { pipeline, registry, values, stored, mask } = self;
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        let encode = best(|| {
            pipeline.encode(registry, values, 0, &mut out, &mut scratch).unwrap();
        });
        let decode =
            best(|| pipeline.decode(registry, stored, *mask, values.len(), &mut out, &mut scratch).map(drop).unwrap());
        [encode, decode]
    }
}

/// The least time that the thread works for a call.
fn best(mut call: impl FnMut()) -> Duration {
    let (begin, mut least) = (Instant::now(), Duration::MAX);
    while begin.elapsed() < PATIENCE || least == Duration::MAX {
        let begin = worked();
        call();
        least = least.min(worked() - begin);
    }
    least
}

fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A small generator of noise.
fn noise() -> impl FnMut() -> u32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}

/// Images of a counting detector: a background of few counts, and peaks.
fn counts() -> Vec<u8> {
    let mut noise = noise();
    let value = |n: u32| {
        let (x, y) = (n % 1024, n / 1024);
        let background = (0..4).map(|_| noise() % 4).sum::<u32>();
        let (across, down) = ((x % 97).abs_diff(48), (y % 83).abs_diff(41));
        let peak = 4000u32.checked_shr((across * across + down * down) / 6).unwrap_or(0);
        let jitter = noise() % (peak / 8 + 1);
        ((background + peak + jitter) as u16).to_le_bytes()
    };
    (0..CHUNK as u32 / 2).flat_map(value).collect()
}

/// A field of a simulation: smooth, with noise in the last digits.
fn field() -> Vec<u8> {
    let mut noise = noise();
    let value = |n: u32| {
        let (x, y) = ((n % 512) as f32, (n / 512) as f32);
        let smooth = (x * 0.013).sin() * (y * 0.021).cos() * 40.0 + x * 0.05;
        (smooth + (noise() % 256) as f32 * 1e-3).to_le_bytes()
    };
    (0..CHUNK as u32 / 4).flat_map(value).collect()
}
