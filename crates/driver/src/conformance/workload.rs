//! Random reads and writes, as ranges and as vectors.

use super::random::Random;
use super::twin::{Twin, same};
use super::{Report, Stop};
use crate::{Driver, ReadPart, Transfer, WritePart};

const STEPS: u64 = 400;
const SPACE: u64 = 40_000;

pub(super) fn check(driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
    let (mut random, mut twin) = (Random::new(1), Twin::default());
    for _ in 0..STEPS {
        match random.below(20) {
            0 => {
                let len = random.below(SPACE);
                driver.set_len(len, &Transfer::default())?;
                twin.set_len(len);
            }
            1 => driver.sync(&Transfer::default())?,
            2 => twin.compare(driver, report)?,
            3..8 => write_range(driver, &mut twin, &mut random)?,
            8..12 => write_vector(driver, &mut twin, &mut random)?,
            12..16 => read_range(driver, &twin, &mut random, report)?,
            _ => read_vector(driver, &twin, &mut random, report)?,
        }
    }
    twin.compare(driver, report)
}

/// Mostly short, sometimes long.
fn length(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => random.below(9000),
        1 => random.below(10),
        _ => random.below(300),
    }
}

fn write_range(driver: &dyn Driver, twin: &mut Twin, random: &mut Random) -> Result<(), Stop> {
    let (addr, len) = (random.below(SPACE), length(random));
    let bytes = random.bytes(len);
    driver.write_at(addr, &bytes, &Transfer::default())?;
    twin.write(addr, &bytes);
    Ok(())
}

fn write_vector(driver: &dyn Driver, twin: &mut Twin, random: &mut Random) -> Result<(), Stop> {
    let wanted: Vec<(u64, Vec<u8>)> =
        ranges(random, SPACE).into_iter().map(|(addr, len)| (addr, random.bytes(len))).collect();
    let parts: Vec<_> = wanted.iter().map(|(addr, bytes)| WritePart::new(*addr, bytes)).collect();
    driver.write_vector(&parts, &Transfer::default())?;
    for (addr, bytes) in &wanted {
        twin.write(*addr, bytes);
    }
    Ok(())
}

fn read_range(driver: &dyn Driver, twin: &Twin, random: &mut Random, report: &mut Report) -> Result<(), Stop> {
    let addr = random.below(twin.len() + 1);
    let len = length(random).min(twin.len() - addr);
    let wanted = twin.read(addr, len);
    let mut found = vec![0x55; wanted.len()];
    driver.read_at(addr, &mut found, &Transfer::default())?;
    same(&format!("{len} bytes at {addr}"), &found, &wanted, report)
}

fn read_vector(driver: &dyn Driver, twin: &Twin, random: &mut Random, report: &mut Report) -> Result<(), Stop> {
    let wanted: Vec<(u64, Vec<u8>)> =
        ranges(random, twin.len()).into_iter().map(|(addr, len)| (addr, twin.read(addr, len))).collect();
    let mut found: Vec<Vec<u8>> = wanted.iter().map(|(_, bytes)| vec![0x55; bytes.len()]).collect();
    let mut parts: Vec<_> = wanted.iter().zip(&mut found).map(|((addr, _), buf)| ReadPart::new(*addr, buf)).collect();
    driver.read_vector(&mut parts, &Transfer::default())?;
    for ((addr, wanted), found) in wanted.iter().zip(&found) {
        same(&format!("the part at {addr}"), found, wanted, report)?;
    }
    Ok(())
}

/// The ranges of a vector: scattered, in rows with small gaps, or adjacent.
fn ranges(random: &mut Random, end: u64) -> Vec<(u64, u64)> {
    let (count, style) = (random.below(40), random.below(3));
    let mut addr = random.below(end.max(1));
    let mut ranges = Vec::new();
    for _ in 0..count {
        let len = length(random).min(end.saturating_sub(addr));
        ranges.push((addr, len));
        addr = match style {
            0 => random.below(end.max(1)),
            1 => addr + len + random.below(60),
            _ => addr + len,
        }
        .min(end);
    }
    ranges
}
