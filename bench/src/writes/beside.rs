//! Threads of one file beside each other: reads of chunks in the cache while another thread writes past it, and two writers of one dataset. libhdf5 lets one
//! thread in at a time, so the other side is ours alone: the same reads without a writer, the same rows by one thread.

use super::{Both, ROW, Written, numbers};
use crate::case::Case;
use crate::clock::{Times, side_by_side};
use crate::files::{create, path};
use crate::libhdf5::Hdf5;
use anyhow::{Context, Result, anyhow};
use hyperslab::{Dataset, File, s};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// In the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "hits beside 1 GiB past the cache, median (alone)", aim: 0.5, run: |_: &Hdf5| hits(50) },
    Case { name: "hits beside 1 GiB past the cache, p99 (alone)", aim: 0.1, run: |_: &Hdf5| hits(99) },
    Case { name: "2 threads write interleaved rows, in the cache (1)", aim: 1.7, run: |_: &Hdf5| cached() },
    Case { name: "2 threads write interleaved rows, chunks (1)", aim: 1.7, run: |_: &Hdf5| interleaved(Some(false)) },
    Case { name: "2 threads write interleaved rows, gzip (1)", aim: 1.7, run: |_: &Hdf5| interleaved(Some(true)) },
    Case { name: "2 threads write interleaved rows, contiguous (1)", aim: 1.7, run: |_: &Hdf5| interleaved(None) },
];

/// The values of the dataset that is read: one chunk.
const HOT: u64 = 1 << 16;
/// The values of one read.
const READ: u64 = 1 << 10;
/// MiB of each dataset that is written beside it, and how many there are.
const WRITTEN: (u64, usize) = (128, 8);
/// So many reads without a writer.
const ALONE: usize = 2_000;
/// A read is due this long after the last one was.
const PACE: Duration = Duration::from_millis(1);

/// The percentile of the times of single reads, beside a writer and alone.
fn hits(percentile: usize) -> Result<Both> {
    let path = path("beside.h5")?;
    let written = Written(&path);
    let file = create(&path, true)?;
    let hot = file.root()?.new_dataset::<f32>().shape([HOT]).chunks([HOT]).deflate(1).create("hot")?;
    hot.write(&numbers(HOT))?;
    let values = numbers(WRITTEN.0 * ROW);
    let mut nth = 0;
    let alone = read_while(&hot, || {
        nth += 1;
        nth <= ALONE
    })?;
    let done = AtomicBool::new(false);
    let beside = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let wrote = write_past(&file, &values);
            done.store(true, Ordering::Release);
            wrote
        });
        let read = read_while(&hot, || !done.load(Ordering::Acquire));
        writer.join().map_err(|_| anyhow!("the writer panicked"))??;
        read
    })?;
    file.close()?;
    drop(written);
    Ok((times("beside", beside, percentile)?, times("alone", alone, percentile)?))
}

/// The times of single reads of a part of the dataset, for as long as they go on. A read that is held up holds up those that are due after it, and their times
/// tell of that.
fn read_while(hot: &Dataset, mut goes_on: impl FnMut() -> bool) -> Result<Vec<Duration>> {
    let (mut buffer, mut times, mut at) = (vec![0f32; usize::try_from(READ)?], Vec::new(), 0);
    let mut due = Instant::now();
    while goes_on() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        hot.read_slice_into(s![at..at + READ], &mut buffer)?;
        times.push(due.elapsed());
        at = (at + READ) % HOT;
        due += PACE;
    }
    Ok(times)
}

/// Datasets in chunks of a MiB without filters.
fn write_past(file: &File, values: &[f32]) -> Result<()> {
    for nth in 0..WRITTEN.1 {
        let new = file.root()?.new_dataset::<f32>().shape([WRITTEN.0, ROW]).chunks([1, ROW]);
        new.create(format!("cold{nth}"))?.past_cache().write(values)?;
    }
    Ok(())
}

fn times(what: &str, mut times: Vec<Duration>, percentile: usize) -> Result<Times> {
    times.sort_unstable();
    let at = |percentile: usize| times.get((times.len() * percentile / 100).min(times.len() - 1)).copied();
    let shown = |percentile| at(percentile).context("no reads");
    let (median, p99, most) = (shown(50)?, shown(99)?, shown(100)?);
    eprintln!("  {what}: {} reads, median {median:?}, p99 {p99:?}, most {most:?}", times.len());
    let best = times.first().copied().unwrap_or_default();
    Ok(Times { median: shown(percentile)?, best, cores: best })
}

/// Rows of 64 KiB of 64 MiB. Each request has 16 rows, every second of 32: the even ones by one thread and the odd ones by another, or all by one.
fn interleaved(chunks: Option<bool>) -> Result<Both> {
    let path = path("interleaved.h5")?;
    let by = |threads: u64| write_rows(&path, chunks, threads).map(|()| Written(&path));
    side_by_side(|| by(2), || by(1))
}

fn write_rows(path: &Path, chunks: Option<bool>, threads: u64) -> Result<()> {
    let file = create(path, true)?;
    let new = file.root()?.new_dataset::<f32>().shape([ROWS, SIDE]);
    let new = match chunks {
        None => new.contiguous(),
        Some(false) => new.chunks([1, SIDE]),
        Some(true) => new.chunks([1, SIDE]).deflate(1),
    };
    write_by(&new.create("data")?, ROWS, threads, &numbers(REQUEST * SIDE))?;
    Ok(file.close()?)
}

/// The same rows of 32 MiB, again and again: chunks that hold rows of both threads, and stay in the cache.
fn cached() -> Result<Both> {
    let path = path("interleaved.h5")?;
    let _written = Written(&path);
    let (file, values) = (create(&path, true)?, numbers(REQUEST * SIDE));
    let new = file.root()?.new_dataset::<f32>().shape([ROWS / 2, SIDE]).chunks([REQUEST * 2, SIDE / 16]);
    let dataset = new.create("data")?;
    let by = |threads: u64| write_by(&dataset, ROWS / 2, threads, &values);
    let times = side_by_side(|| by(2), || by(1))?;
    file.close()?;
    Ok(times)
}

const ROWS: u64 = 1024;
const SIDE: u64 = 1 << 14;
/// The rows of one request.
const REQUEST: u64 = 16;

/// Writes all rows: those of one remainder by each thread.
fn write_by(dataset: &Dataset, rows: u64, threads: u64, values: &[f32]) -> Result<()> {
    let write = |thread: u64| -> Result<()> {
        for start in (0..rows).step_by(usize::try_from(REQUEST * 2)?) {
            for first in (0..2).filter(|first| first % threads == thread) {
                dataset.write_slice(s![start + first..start + REQUEST * 2; 2, ..], values)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || write(first))).collect();
        write(0)?;
        others.into_iter().try_for_each(|other| other.join().map_err(|_| anyhow!("a writer panicked"))?)
    })
}
