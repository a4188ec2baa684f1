//! Times: both sides in turn, so that a busy moment of the machine hits both; warmed up, several times, the median.

use anyhow::Result;
use std::time::{Duration, Instant};

/// Enough repetitions for a median, but not for minutes on a slow side.
const REPETITIONS: usize = 31;
const PATIENCE: Duration = Duration::from_secs(6);

/// The median times of `ours` and `theirs`, whose results are kept from the optimizer.
pub(crate) fn side_by_side<A, B>(
    mut ours: impl FnMut() -> Result<A>,
    mut theirs: impl FnMut() -> Result<B>,
) -> Result<(Duration, Duration)> {
    let begin = Instant::now();
    let _warm = (ours()?, theirs()?);
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    while our_times.len() < 3 || (our_times.len() < REPETITIONS && begin.elapsed() < PATIENCE) {
        our_times.push(timed(&mut ours)?);
        their_times.push(timed(&mut theirs)?);
    }
    Ok((median(our_times), median(their_times)))
}

fn timed<T>(work: &mut impl FnMut() -> Result<T>) -> Result<Duration> {
    let begin = Instant::now();
    let result = std::hint::black_box(work()?);
    let time = begin.elapsed();
    // Freed outside the clock.
    drop(result);
    Ok(time)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
