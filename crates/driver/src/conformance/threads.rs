//! Several threads, each with ranges of its own.

use std::thread;

use super::random::Random;
use super::twin::{Twin, same};
use super::{Report, Stop};
use crate::{Driver, ReadPart, Transfer, WritePart};

const THREADS: u64 = 4;
const STEPS: u64 = 60;
const SPACE: u64 = 20_000;
/// Not a power of two, so that neighbours share pages and stripes.
const GRAIN: u64 = 37;

pub(super) fn check(driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
    driver.set_len(SPACE, &Transfer::default())?;
    let outcomes: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || alone(driver, number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Stop("a thread panicked".to_owned()))))
            .collect()
    });
    let mut whole = Twin::default();
    whole.set_len(SPACE);
    for (number, outcome) in (0..THREADS).zip(outcomes) {
        let (own, tried) = outcome?;
        report.requests += tried.requests;
        report.bytes += tried.bytes;
        for grain in grains(number) {
            whole.write(grain, &own.read(grain, GRAIN));
        }
    }
    whole.compare(driver, report)
}

/// The starts of a thread's ranges.
fn grains(number: u64) -> impl Iterator<Item = u64> {
    (number * GRAIN..SPACE - GRAIN).step_by((THREADS * GRAIN) as usize)
}

/// Writes and reads the ranges of one thread; no other thread does.
fn alone(driver: &dyn Driver, number: u64) -> Result<(Twin, Report), Stop> {
    let (mut random, mut own, mut report) = (Random::new(100 + number), Twin::default(), Report::default());
    own.set_len(SPACE);
    let all: Vec<u64> = grains(number).collect();
    for step in 0..STEPS {
        let (first, count) = (random.below(all.len() as u64), 1 + random.below(30));
        let chosen: Vec<u64> = all.iter().copied().skip(first as usize).take(count as usize).collect();
        if step % 2 == 0 {
            let bytes: Vec<Vec<u8>> = chosen.iter().map(|_| random.bytes(GRAIN)).collect();
            let parts: Vec<_> = chosen.iter().zip(&bytes).map(|(addr, bytes)| WritePart::new(*addr, bytes)).collect();
            driver.write_vector(&parts, &Transfer::default())?;
            parts.iter().for_each(|part| own.write(part.addr, part.buf));
        } else {
            let mut found = vec![[0; GRAIN as usize]; chosen.len()];
            let mut parts: Vec<_> =
                chosen.iter().zip(&mut found).map(|(addr, buf)| ReadPart::new(*addr, buf)).collect();
            driver.read_vector(&mut parts, &Transfer::default())?;
            for (addr, found) in chosen.iter().zip(&found) {
                same(&format!("thread {number} at {addr}"), found, &own.read(*addr, GRAIN), &mut report)?;
            }
        }
    }
    Ok((own, report))
}
