//! Times: all sides in turn, so that a busy moment of the machine hits each of them.

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How often each side has its turn.
const TURNS: usize = 11;

/// One side.
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) run: Box<dyn Fn() -> Result<()> + 'a>,
    /// What is done after each turn, outside of the clock.
    pub(crate) after: Box<dyn Fn() -> Result<()> + 'a>,
}

/// The times of one side.
pub(crate) struct Times {
    pub(crate) median: Duration,
    pub(crate) best: Duration,
    /// The best of the time that cores worked.
    pub(crate) cores: Duration,
}

/// The times of all sides, after one turn each that does not count.
pub(crate) fn take(sides: &[Side<'_>]) -> Result<Vec<Times>> {
    let mut turns = vec![Vec::new(); sides.len()];
    for nth in 0..=TURNS {
        for (side, turns) in sides.iter().zip(&mut turns) {
            let (begin, worked) = (Instant::now(), cores());
            (side.run)()?;
            let turn = (begin.elapsed(), cores().saturating_sub(worked));
            (side.after)()?;
            if nth > 0 {
                turns.push(turn);
            }
        }
    }
    Ok(turns.into_iter().map(Times::of).collect())
}

fn cores() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

impl Times {
    fn of(turns: Vec<(Duration, Duration)>) -> Times {
        let (mut wall, cores): (Vec<_>, Vec<_>) = turns.into_iter().unzip();
        wall.sort();
        Times { median: wall[wall.len() / 2], best: wall[0], cores: cores.into_iter().min().unwrap_or_default() }
    }
}

/// A table of the sides; `column` is one more, with a cell for each.
pub(crate) fn table(sides: &[Side<'_>], times: &[Times], column: Option<(&str, &[String])>) -> String {
    let mut table = String::from("| side | median ms | best ms | cores ms |");
    let _ = write!(table, "{}", column.map_or(String::new(), |(head, _)| format!(" {head} |")));
    let _ = write!(table, "\n|---|---|---|---|{}", if column.is_some() { "---|" } else { "" });
    for (nth, (side, times)) in sides.iter().zip(times).enumerate() {
        let [median, best, cores] = [times.median, times.best, times.cores].map(|time| time.as_secs_f64() * 1e3);
        let _ = write!(table, "\n| {} | {median:.3} | {best:.3} | {cores:.3} |", side.name);
        let _ = write!(table, "{}", column.map_or(String::new(), |(_, cells)| format!(" {} |", cells[nth])));
    }
    table
}
