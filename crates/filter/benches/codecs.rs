//! Each codec beside libhdf5 and hdf5plugin: encode and decode of a chunk on one thread, and its size. Run by `cargo xtask bench --codecs`, which
//! sets up the Python environment; the table is in `docs/benchmarks.md`.
//!
//! Theirs is timed by `codecs.py`, case after case in turn with ours, which uses the parameters that libhdf5 has stored.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use hyperslab_filter::*;

const CHUNK: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_millis(350);

fn main() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let chunks = [("u16", counts()), ("f32", field())];
    for (kind, values) in &chunks {
        fs::write(folder.join(format!("{kind}.bin")), values).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/codecs.py");
    let mut child =
        Command::new(python).arg(script).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut asked, mut replies) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    println!("| codec | type | encode MB/s | theirs ÷ ours | decode MB/s | theirs ÷ ours | size ours ÷ theirs |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    loop {
        writeln!(asked).unwrap();
        let line = replies.next().unwrap().unwrap();
        let [name, kind, encode, decode, size, steps] = line.split('|').collect::<Vec<_>>()[..] else { break };
        let (_, values) = chunks.iter().find(|(known, _)| *known == kind).unwrap();
        let ours = measure(steps, values);
        let theirs = [encode, decode].map(|time| Duration::from_secs_f64(time.parse().unwrap()));
        let speed = |time: Duration| values.len() as f64 / time.as_secs_f64() / 1e6;
        let ratio = |theirs: Duration, ours: Duration| theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "| {name} | {kind} | {:.0} | {:.2} | {:.0} | {:.2} | {:.3} |",
            speed(ours.encode),
            ratio(theirs[0], ours.encode),
            speed(ours.decode),
            ratio(theirs[1], ours.decode),
            ours.size as f64 / size.parse::<f64>().unwrap(),
        );
    }
    assert!(child.wait().unwrap().success());
}

struct Ours {
    encode: Duration,
    decode: Duration,
    size: usize,
}

fn measure(steps: &str, values: &[u8]) -> Ours {
    let step = |step: &str| {
        let (id, params) = step.split_once(':').unwrap();
        let params = params.split(',').filter(|param| !param.is_empty()).map(|param| param.parse().unwrap());
        Step::optional(id.parse().unwrap(), params.collect())
    };
    let pipeline = Pipeline::new(steps.split(';').map(step).collect()).unwrap();
    let registry = Registry::default();
    let (mut stored, mut out, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mask = pipeline.encode(&registry, values, 0, &mut stored, &mut scratch).unwrap();
    let encode = best(|| {
        pipeline.encode(&registry, values, 0, &mut out, &mut scratch).unwrap();
    });
    let decode = best(|| pipeline.decode(&registry, &stored, mask, values.len(), &mut out, &mut scratch).unwrap());
    Ours { encode, decode, size: stored.len() }
}

/// The least time of a call.
fn best(mut call: impl FnMut()) -> Duration {
    call();
    let (begin, mut least) = (Instant::now(), Duration::MAX);
    while begin.elapsed() < PATIENCE {
        let begin = Instant::now();
        call();
        least = least.min(begin.elapsed());
    }
    least
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
