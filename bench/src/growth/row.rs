//! One line of the table of growth.

use super::Work;
use anyhow::{Context, Result};
use serde::Serialize;
use std::time::Instant;

/// What items cost on both sides.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) count: u64,
    pub(crate) ours: Costs,
    pub(crate) theirs: Costs,
}

/// What an item costs when there are as many as 1 %, 10 % and 100 % of all, and in the mean.
#[derive(Serialize)]
pub(crate) struct Costs {
    /// Microseconds, of a hundredth of all items up to there.
    pub(crate) at: [f64; 3],
    /// Microseconds, of all items and of closing the file.
    pub(crate) mean: f64,
    /// By how many bytes the memory of the process grew from 1 % to 100 %.
    pub(crate) memory: i64,
}

impl Row {
    /// What the table shows.
    pub(super) fn cells(&self) -> Vec<String> {
        let [first, middle, last] = self.ours.at;
        let time = |time: f64| format!("{time:.2} µs");
        vec![
            self.name.to_owned(),
            self.count.to_string(),
            time(first),
            time(middle),
            time(last),
            time(self.theirs.at[2]),
            format!("{:.2}", self.theirs.mean / self.ours.mean),
            format!("{:.2}", last / first),
            format!("{} MB", self.ours.memory / 1_000_000),
        ]
    }
}

/// Does so many items, and looks at the clock at the first, middle and last hundredth.
pub(super) fn timed(count: u64, mut work: Work<'_>) -> Result<Costs> {
    let window = (count / 100).max(1);
    let (begin, mut done) = (Instant::now(), 0);
    let mut cost_at = |end: u64| -> Result<_> {
        work(done..end - window)?;
        let clock = Instant::now();
        work(end - window..end)?;
        done = end;
        Ok((clock.elapsed().as_secs_f64() * 1e6 / window as f64, resident()?))
    };
    let [first, middle, last] = [cost_at(window)?, cost_at(count / 10)?, cost_at(count)?];
    drop(work);
    let mean = begin.elapsed().as_secs_f64() * 1e6 / count as f64;
    Ok(Costs { at: [first.0, middle.0, last.0], mean, memory: last.1 - first.1 })
}

/// The bytes of memory that the process has.
fn resident() -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
