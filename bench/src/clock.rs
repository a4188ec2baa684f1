//! Times: both sides in turn, so that a busy moment of the machine hits both; warmed up, several times.
//!
//! The clock on the wall says what a caller waits. On a machine that others use too it also says what they do, and several threads wait for
//! cores that are taken; the time that cores worked for this process says what the work is.

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Enough repetitions for a median, but not for minutes on a slow side.
const REPETITIONS: usize = 31;
const PATIENCE: Duration = Duration::from_secs(6);

/// The times of one side.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Times {
    /// The median on the wall.
    pub(crate) median: Duration,
    /// The best on the wall.
    pub(crate) best: Duration,
    /// The best of the time that cores worked.
    pub(crate) cores: Duration,
}

/// The times of `ours` and `theirs`, whose results are kept from the optimizer.
pub(crate) fn side_by_side<A, B>(
    mut ours: impl FnMut() -> Result<A>,
    mut theirs: impl FnMut() -> Result<B>,
) -> Result<(Times, Times)> {
    let begin = Instant::now();
    let _warm = (ours()?, theirs()?);
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    while our_times.len() < 3 || (our_times.len() < REPETITIONS && begin.elapsed() < PATIENCE) {
        our_times.push(timed(&mut ours)?);
        their_times.push(timed(&mut theirs)?);
    }
    Ok((Times::of(our_times), Times::of(their_times)))
}

/// On the wall, and of cores.
fn timed<T>(work: &mut impl FnMut() -> Result<T>) -> Result<(Duration, Duration)> {
    let (begin, worked) = (Instant::now(), cores());
    let result = std::hint::black_box(work()?);
    let time = (begin.elapsed(), cores().saturating_sub(worked));
    // Freed outside the clock.
    drop(result);
    Ok(time)
}

/// What cores have worked for this process.
pub(crate) fn cores() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

impl Times {
    fn of(times: Vec<(Duration, Duration)>) -> Times {
        let (mut wall, cores): (Vec<_>, Vec<_>) = times.into_iter().unzip();
        wall.sort();
        let best = wall.first().copied().unwrap_or_default();
        let median = wall.get(wall.len() / 2).copied().unwrap_or_default();
        Times { median, best, cores: cores.into_iter().min().unwrap_or_default() }
    }
}
