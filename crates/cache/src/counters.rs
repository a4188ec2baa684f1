//! Numbers that the statistics are made of. Each partition counts for itself; what is not of one dataset, or of one that is closed, the cache counts.
//!
//! Counting takes no lock and orders nothing. Where no thread waits, no clock is read.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::{Statistics, statistics::Waits};

/// What is counted. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Hits,
    Misses,
    Loads,
    Evictions,
    Written,
    Bypasses,
    BypassedBytes,
    DirtyVisits,
    EncodedAhead,
    Decoding,
    Encoding,
    ChunkWaits,
    ChunkWaitTime,
    MemoryWaits,
    MemoryWaitTime,
    RangeWaits,
    RangeWaitTime,
}

const COUNTERS: usize = Counter::RangeWaitTime as usize + 1;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitsFor {
    Chunk,
    Memory,
    Range,
}

impl WaitsFor {
    /// What counts such waits, and their time.
    fn counters(self) -> (Counter, Counter) {
        match self {
            WaitsFor::Chunk => (Counter::ChunkWaits, Counter::ChunkWaitTime),
            WaitsFor::Memory => (Counter::MemoryWaits, Counter::MemoryWaitTime),
            WaitsFor::Range => (Counter::RangeWaits, Counter::RangeWaitTime),
        }
    }
}

/// The counters of a partition, or of what is left to the cache.
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; COUNTERS]);

impl Counters {
    #[inline]
    pub(crate) fn add(&self, counter: Counter, by: u64) {
        if let Some(counter) = self.0.get(counter as usize) {
            counter.fetch_add(by, Ordering::Relaxed);
        }
    }

    pub(crate) fn add_time(&self, counter: Counter, time: Duration) {
        self.add(counter, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// A thread waits until the result is dropped.
    pub(crate) fn wait(&self, reason: WaitsFor) -> Wait<'_> {
        Wait { counters: self, reason, begun: Instant::now() }
    }

    /// What they are now.
    pub(crate) fn totals(&self) -> Totals {
        Totals(std::array::from_fn(|nth| self.0.get(nth).map_or(0, |counter| counter.load(Ordering::Relaxed))))
    }

    /// What they were; they begin anew.
    pub(crate) fn take(&self) -> Totals {
        Totals(std::array::from_fn(|nth| self.0.get(nth).map_or(0, |counter| counter.swap(0, Ordering::Relaxed))))
    }

    /// Counts what others counted, too.
    pub(crate) fn absorb(&self, totals: &Totals) {
        for (counter, by) in self.0.iter().zip(&totals.0) {
            counter.fetch_add(*by, Ordering::Relaxed);
        }
    }
}

/// A thread that waits. Counts as one wait when this is dropped.
pub(crate) struct Wait<'a> {
    counters: &'a Counters,
    reason: WaitsFor,
    begun: Instant,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let (count, time) = self.reason.counters();
        self.counters.add(count, 1);
        self.counters.add_time(time, self.begun.elapsed());
    }
}

/// Counters of one moment, or the sum of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals([u64; COUNTERS]);

impl Totals {
    /// Those of both.
    pub(crate) fn with(mut self, other: &Totals) -> Totals {
        for (total, more) in self.0.iter_mut().zip(&other.0) {
            *total = total.wrapping_add(*more);
        }
        self
    }

    fn of(&self, counter: Counter) -> u64 {
        self.0.get(counter as usize).copied().unwrap_or_default()
    }

    fn time(&self, counter: Counter) -> Duration {
        Duration::from_nanos(self.of(counter))
    }

    fn waits(&self, reason: WaitsFor) -> Waits {
        let (count, time) = reason.counters();
        Waits { count: self.of(count), time: self.time(time) }
    }

    /// As users see them, without sizes.
    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            hits: self.of(Counter::Hits),
            misses: self.of(Counter::Misses),
            loads: self.of(Counter::Loads),
            evictions: self.of(Counter::Evictions),
            written: self.of(Counter::Written),
            bypasses: self.of(Counter::Bypasses),
            bypassed_bytes: self.of(Counter::BypassedBytes),
            dirty_visits: self.of(Counter::DirtyVisits),
            encoded_ahead: self.of(Counter::EncodedAhead),
            decoding: self.time(Counter::Decoding),
            encoding: self.time(Counter::Encoding),
            chunk_waits: self.waits(WaitsFor::Chunk),
            memory_waits: self.waits(WaitsFor::Memory),
            range_waits: self.waits(WaitsFor::Range),
            ..Statistics::default()
        }
    }
}
