//! What a driver should hold, as plain bytes.

use super::{Report, Stop, ensure};
use crate::{Driver, ReadPart, Transfer};

/// The obvious storage: every operation is a loop over bytes.
#[derive(Default)]
pub(super) struct Twin {
    bytes: Vec<u8>,
}

impl Twin {
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.bytes.resize(index(len), 0);
    }

    pub(super) fn write(&mut self, addr: u64, bytes: &[u8]) {
        let end = addr + bytes.len() as u64;
        if !bytes.is_empty() && self.len() < end {
            self.set_len(end);
        }
        for (place, byte) in self.bytes.iter_mut().skip(index(addr)).zip(bytes) {
            *place = *byte;
        }
    }

    pub(super) fn read(&self, addr: u64, len: u64) -> Vec<u8> {
        self.bytes.iter().skip(index(addr)).take(index(len)).copied().collect()
    }

    /// Length and every byte, read as one range and as one vector.
    pub(super) fn compare(&self, driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
        let len = driver.len(&Transfer::default())?;
        ensure(len == self.len(), || format!("{len} bytes long instead of {}", self.len()))?;
        let mut whole = vec![0x55; self.bytes.len()];
        driver.read_at(0, &mut whole, &Transfer::default())?;
        same("the whole storage", &whole, &self.bytes, report)?;
        let mut halves = vec![0x55; self.bytes.len()];
        let (left, right) = halves.split_at_mut(self.bytes.len() / 2);
        let middle = left.len() as u64;
        let mut parts = [ReadPart::new(middle, right), ReadPart::new(0, left)];
        driver.read_vector(&mut parts, &Transfer::default())?;
        same("the storage in two halves", &halves, &self.bytes, report)
    }
}

/// Two runs of bytes must be equal; else says where they first are not.
pub(super) fn same(what: &str, found: &[u8], wanted: &[u8], report: &mut Report) -> Result<(), Stop> {
    report.requests += 1;
    report.bytes += wanted.len() as u64;
    ensure(found.len() == wanted.len(), || format!("{what}: {} bytes instead of {}", found.len(), wanted.len()))?;
    match found.iter().zip(wanted).enumerate().find(|(_, (found, wanted))| found != wanted) {
        Some((at, (found, wanted))) => Err(Stop(format!("{what}: byte {at} is {found} instead of {wanted}"))),
        None => Ok(()),
    }
}

/// The suite stays far below what an address of memory can hold.
pub(super) fn index(addr: u64) -> usize {
    usize::try_from(addr).unwrap_or(usize::MAX)
}
