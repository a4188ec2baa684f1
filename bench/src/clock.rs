//! Times: warmed up, several repetitions, the median.

use anyhow::Result;
use std::time::{Duration, Instant};

/// Enough repetitions for a median, but not for minutes on a slow side.
const REPETITIONS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(6);

/// The median time of `work`, whose result is kept from the optimizer.
pub(crate) fn median<T>(mut work: impl FnMut() -> Result<T>) -> Result<Duration> {
    let begin = Instant::now();
    std::hint::black_box(work()?);
    let mut times = Vec::with_capacity(REPETITIONS);
    while times.len() < 3 || (times.len() < REPETITIONS && begin.elapsed() < PATIENCE) {
        let begin = Instant::now();
        let result = std::hint::black_box(work()?);
        times.push(begin.elapsed());
        // Freed outside the clock on both sides.
        drop(result);
    }
    times.sort();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}
