//! The cases that are easy to get wrong: nothing, the end, the gap, the overlap.

use super::twin::{Twin, same};
use super::{Report, Stop, ensure};
use crate::{Driver, Error, ReadPart, Transfer, Why, WritePart};

pub(super) fn check(driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
    let (transfer, mut twin) = (Transfer::default(), Twin::default());
    empty_requests(driver, report)?;

    past_end(driver.read_at(0, &mut [0; 1], &transfer), 0, report)?;
    gap(driver, &mut twin, report)?;
    let end = twin.len();
    past_end(driver.read_at(end - 1, &mut [0; 2], &transfer), end, report)?;
    past_end(driver.read_at(end + 10_000, &mut [0; 1], &transfer), end, report)?;
    let (mut inside, mut outside) = ([0; 4], [0; 4]);
    let mut parts = [ReadPart::new(0, &mut inside), ReadPart::new(end - 3, &mut outside)];
    past_end(driver.read_vector(&mut parts, &transfer), end, report)?;
    let overflow = driver.read_at(u64::MAX - 1, &mut [0; 8], &transfer);
    ensure(overflow.is_err(), || "a read beyond the address space succeeded".to_owned())?;

    overlap(driver, &mut twin, report)?;
    empty_part(driver, &mut twin, report)?;
    for len in [end + 3000, 700, 701, 0, 64] {
        driver.set_len(len, &Transfer::default())?;
        twin.set_len(len);
        twin.compare(driver, report)?;
    }
    driver.flush(&Transfer::default())?;
    twin.compare(driver, report)?;
    driver.sync(&Transfer::default())?;
    twin.compare(driver, report)
}

/// A request for nothing succeeds anywhere and changes nothing.
fn empty_requests(driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
    let transfer = Transfer::default();
    for addr in [0, 1 << 40, u64::MAX] {
        driver.read_at(addr, &mut [], &transfer)?;
        driver.write_at(addr, &[], &transfer)?;
        driver.read_vector(&mut [ReadPart::new(addr, &mut [])], &transfer)?;
        driver.write_vector(&[WritePart::new(addr, &[])], &transfer)?;
    }
    driver.read_vector(&mut [], &transfer)?;
    driver.write_vector(&[], &transfer)?;
    driver.read_selection(&[], &mut [], &transfer)?;
    driver.write_selection(&[], &[], &transfer)?;
    Twin::default().compare(driver, report)
}

/// A part of nothing beyond the end neither fails nor extends, alone or among others.
fn empty_part(driver: &dyn Driver, twin: &mut Twin, report: &mut Report) -> Result<(), Stop> {
    let transfer = Transfer::default();
    for (far, bytes) in [(1 << 40, [6; 3000]), (u64::MAX, [7; 3000])] {
        let mut found = [0; 3000];
        driver.write_vector(&[WritePart::new(far, &[]), WritePart::new(300, &bytes)], &transfer)?;
        twin.write(300, &bytes);
        driver.read_vector(&mut [ReadPart::new(far, &mut []), ReadPart::new(300, &mut found)], &transfer)?;
        same("a part beside an empty one", &found, &bytes, report)?;
    }
    twin.compare(driver, report)
}

/// What a write beyond the end leaves out reads as zeros.
fn gap(driver: &dyn Driver, twin: &mut Twin, report: &mut Report) -> Result<(), Stop> {
    for (addr, bytes) in [(5000, &[7; 300][..]), (9, &[8; 2][..]), (20_001, &[9; 1][..])] {
        driver.write_at(addr, bytes, &Transfer::default())?;
        twin.write(addr, bytes);
        twin.compare(driver, report)?;
    }
    Ok(())
}

/// Overlapping parts of one write take effect in list order.
fn overlap(driver: &dyn Driver, twin: &mut Twin, report: &mut Report) -> Result<(), Stop> {
    let (ones, twos, threes, fours) = ([1; 100], [2; 10], [3; 40], [4; 5]);
    let parts = [
        WritePart::new(1000, &ones),
        WritePart::new(1050, &twos),
        WritePart::new(1030, &threes),
        WritePart::new(1098, &fours),
        WritePart::new(990, &twos),
        WritePart::new(995, &fours),
    ];
    driver.write_vector(&parts, &Transfer::default())?;
    for part in &parts {
        twin.write(part.addr, part.buf);
    }
    twin.compare(driver, report)?;
    // Two parts of one read may be the same range.
    let (mut a, mut b) = ([0; 120], [0; 60]);
    let mut parts = [ReadPart::new(990, &mut a), ReadPart::new(1000, &mut b)];
    driver.read_vector(&mut parts, &Transfer::default())?;
    same("a part inside another", &b, &twin.read(1000, 60), report)?;
    same("a part around another", &a, &twin.read(990, 120), report)
}

fn past_end(outcome: Result<(), Error>, end: u64, report: &mut Report) -> Result<(), Stop> {
    report.requests += 1;
    match outcome {
        Ok(()) => Err(Stop(format!("a read past the end at {end} succeeded"))),
        Err(error) => match error.why {
            Why::PastEnd { end: told } if told == end => Ok(()),
            _ => Err(Stop(format!("a read past the end at {end} does not say so: {error}"))),
        },
    }
}
