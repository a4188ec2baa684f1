//! One line of the table of growth.

use super::Work;
use crate::clock::cores;
use anyhow::{Context, Result};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Few items are done again for so long, and the best counts.
const PATIENCE: Duration = Duration::from_millis(300);

/// What items cost on both sides, of a hundredth, of a tenth and of all.
#[derive(Serialize)]
pub(crate) struct Row {
    name: &'static str,
    count: u64,
    ours: Vec<Cost>,
    theirs: Vec<Cost>,
}

/// What an item costs, from the first to closing the file.
#[derive(Serialize, Default, Clone, Copy)]
pub(crate) struct Cost {
    /// Microseconds of cores.
    cores: f64,
    /// Microseconds on the wall.
    wall: f64,
    /// By how many bytes the memory of the process grew meanwhile.
    memory: i64,
}

impl Row {
    pub(super) fn new(name: &'static str, count: u64) -> Row {
        Row { name, count, ours: Vec::new(), theirs: Vec::new() }
    }

    /// How many items to do.
    pub(super) fn counts(&self) -> [u64; 3] {
        [self.count / 100, self.count / 10, self.count]
    }

    pub(super) fn add(&mut self, ours: Cost, theirs: Cost) {
        self.ours.push(ours);
        self.theirs.push(theirs);
    }

    /// What the table shows.
    pub(super) fn cells(&self) -> Vec<String> {
        let at = |side: &[Cost], nth: usize| side.get(nth).copied().unwrap_or_default();
        let [few, some, all] = [0, 1, 2].map(|nth| at(&self.ours, nth));
        let theirs = at(&self.theirs, 2);
        let time = |cost: Cost| format!("{:.2} µs", cost.cores);
        vec![
            self.name.to_owned(),
            self.count.to_string(),
            time(few),
            time(some),
            time(all),
            time(theirs),
            format!("{:.2}", theirs.cores / all.cores),
            format!("{:.2}", theirs.wall / all.wall),
            format!("{:.2}", all.cores / few.cores),
            format!("{} MB", all.memory / 1_000_000),
        ]
    }
}

/// Does so many items.
pub(super) fn timed<'a>(count: u64, ready: impl Fn() -> Result<Work<'a>>) -> Result<Cost> {
    let (begin, mut best) = (Instant::now(), None::<Cost>);
    while best.is_none() || begin.elapsed() < PATIENCE {
        let (mut work, memory) = (ready()?, resident()?);
        let (clock, worked) = (Instant::now(), cores());
        work()?;
        let memory = resident()? - memory;
        drop(work);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
        let now = Cost { cores: each(cores().saturating_sub(worked)), wall: each(clock.elapsed()), memory };
        let best = best.get_or_insert(now);
        *best = Cost { cores: best.cores.min(now.cores), wall: best.wall.min(now.wall), ..*best };
    }
    best.context("nothing was timed")
}

/// The bytes of memory that the process has.
fn resident() -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
