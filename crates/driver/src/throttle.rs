//! Storage that is slow on purpose.
//!
//! Lives here: [`Throttle`]. Does not live here: limits on how many requests run at once. Used by tests and benchmarks to stand in
//! for a network.

use std::thread::sleep;
use std::time::Duration;

use crate::{Capabilities, Driver, ReadPart, Result, SelectionPair, Transfer, WritePart};

/// No request waits longer.
const LONGEST: Duration = Duration::from_secs(3600);

/// Delays every request by a latency and by its bytes over a bandwidth. A vector or a set of selections is one request.
/// No delay is longer than an hour.
///
/// ```
/// use std::time::{Duration, Instant};
/// use hyperslab_driver::{Driver, Memory, Throttle, Transfer};
/// let far = Throttle::new(Memory::new()).latency(Duration::from_millis(2));
/// let begun = Instant::now();
/// far.write_at(0, b"x", &Transfer::default())?;
/// assert!(begun.elapsed() >= Duration::from_millis(2));
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Throttle<D> {
    below: D,
    latency: Duration,
    bytes_per_second: Option<u64>,
}

impl<D: Driver> Throttle<D> {
    /// No delay yet.
    pub fn new(below: D) -> Self {
        Throttle { below, latency: Duration::ZERO, bytes_per_second: None }
    }

    /// With so long a wait before every request.
    #[must_use]
    pub fn latency(self, latency: Duration) -> Self {
        Throttle { latency, ..self }
    }

    /// With so many bytes in a second at most (at least one).
    #[must_use]
    pub fn bandwidth(self, bytes_per_second: u64) -> Self {
        Throttle { bytes_per_second: Some(bytes_per_second.max(1)), ..self }
    }

    /// Before a request of ranges with so many bytes each. What does not add up is refused below.
    fn wait(&self, ranges: impl IntoIterator<Item = u64>) {
        let bytes = ranges.into_iter().fold(0, u64::saturating_add);
        let moving = self.bytes_per_second.map_or(0.0, |rate| bytes as f64 / rate as f64);
        let delay = self.latency.saturating_add(Duration::try_from_secs_f64(moving).unwrap_or(LONGEST)).min(LONGEST);
        if !delay.is_zero() {
            sleep(delay);
        }
    }
}

impl<D: Driver> Driver for Throttle<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.wait([buf.len() as u64]);
        self.below.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.wait([buf.len() as u64]);
        self.below.write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.wait([]);
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.wait([]);
        self.below.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.below.flush(transfer)
    }

    fn name(&self) -> &str {
        self.below.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities() - Capabilities::NEAR
    }

    fn below(&self) -> Option<&dyn Driver> {
        Some(&self.below)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.wait(parts.iter().map(|part| part.buf.len() as u64));
        self.below.read_vector(parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.wait(parts.iter().map(|part| part.buf.len() as u64));
        self.below.write_vector(parts, transfer)
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.wait(pairs.iter().map(SelectionPair::bytes));
        self.below.read_selection(pairs, bufs, transfer)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.wait(pairs.iter().map(SelectionPair::bytes));
        self.below.write_selection(pairs, bufs, transfer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use hyperslab_space::{Op, Slab, Space, UNLIMITED};

    use super::*;
    use crate::Memory;

    #[test]
    fn more_bytes_than_can_be_counted_are_refused_below() {
        let mut endless = Space::simple(&[10]).unwrap();
        endless.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1)]).unwrap();
        let pair = SelectionPair { memory: &endless, file: &endless, offset: 0, element_size: 1 };
        let storage = Throttle::new(Memory::new()).bandwidth(u64::MAX);
        let outcome = storage.write_selection(&[pair, pair], &[&[1; 10]], &Transfer::default());
        assert!(matches!(outcome.unwrap_err().why, crate::Why::Selection(_)));
    }

    #[test]
    fn bandwidth_counts_all_bytes_of_a_vector() {
        let slow = Throttle::new(Memory::new()).bandwidth(100_000);
        let (half, begun) = ([0; 500], Instant::now());
        slow.write_vector(&[WritePart::new(0, &half), WritePart::new(900, &half)], &Transfer::default()).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(10));
    }
}
