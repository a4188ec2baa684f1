//! How fast the storage is, as reads of values tell.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::OpenFile;

/// A read is slow if it takes so many seconds longer than its bytes do at [`BANDWIDTH`]. What is in the machine is faster.
const LATENCY: f64 = 200e-6;

/// Bytes in a second that any storage in the machine has.
const BANDWIDTH: f64 = 500e6;

/// Bytes in a second that no storage is taken to exceed.
const HIGHEST: f64 = 100e9;

/// Of storage that is not slow, the time is taken of one read in so many.
const SELDOM: u32 = 64;

/// How much less a read counts with each one after it.
const DECAY: f64 = 0.9;

/// An estimate of latency and bandwidth. It costs a read of fast storage two accesses to a number in memory.
#[derive(Debug, Default)]
pub(crate) struct Speed {
    /// How many reads pass before the time of one is taken again. It may be off by some, as threads change it at once.
    skip: AtomicU32,
    /// Latency times bandwidth, in bytes; 0 unless the storage is slow.
    window: AtomicU64,
    seen: Mutex<Seen>,
}

/// Sums over reads, later ones with more weight.
#[derive(Debug, Default)]
struct Seen {
    weight: f64,
    bytes: f64,
    time: f64,
    bytes_squared: f64,
    bytes_time: f64,
    /// Which part of the last reads was slow.
    slow: f64,
}

impl Speed {
    /// When a read begins, if it is its turn to be measured.
    pub(crate) fn begin(&self) -> Option<Instant> {
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
            return None;
        }
        Some(Instant::now())
    }

    /// After it has succeeded.
    pub(crate) fn end(&self, begun: Option<Instant>, bytes: impl FnOnce() -> u64) {
        if let Some(begun) = begun {
            let time = begun.elapsed();
            self.note(bytes(), time);
        }
    }

    fn note(&self, bytes: u64, time: Duration) {
        let mut seen = self.seen.lock();
        seen.note(bytes as f64, time.as_secs_f64());
        let may_be_slow = seen.slow > 0.0;
        self.window.store(seen.window(), Ordering::Relaxed);
        self.skip.store(if may_be_slow { 0 } else { SELDOM }, Ordering::Relaxed);
    }
}

impl Seen {
    fn note(&mut self, bytes: f64, time: f64) {
        let sums = [
            (&mut self.weight, 1.0),
            (&mut self.bytes, bytes),
            (&mut self.time, time),
            (&mut self.bytes_squared, bytes * bytes),
            (&mut self.bytes_time, bytes * time),
        ];
        for (sum, new) in sums {
            *sum = *sum * DECAY + new;
        }
        let is_slow = time - bytes / BANDWIDTH > LATENCY;
        self.slow += (f64::from(u8::from(is_slow)) - self.slow) / 4.0;
        // One slow read is forgotten after some that are not.
        if self.slow < 0.05 {
            self.slow = 0.0;
        }
    }

    /// Latency times bandwidth, if most reads were slow: the line through bytes and times with the least squares.
    fn window(&self) -> u64 {
        if self.slow < 0.5 {
            return 0;
        }
        let (bytes, time) = (self.bytes / self.weight, self.time / self.weight);
        let variance = self.bytes_squared / self.weight - bytes * bytes;
        if variance <= bytes * bytes / 100.0 {
            // Reads of one length do not tell the two apart. Longer ones will.
            return (2.0 * bytes) as u64;
        }
        let per_byte = ((self.bytes_time / self.weight - bytes * time) / variance).max(1.0 / HIGHEST);
        ((time - per_byte * bytes).max(0.0) / per_byte) as u64
    }
}

impl OpenFile {
    /// How many bytes the storage could send in the time until the first byte of a request comes, as far as reads of values told so far. Nothing for storage that answers
    /// at once, as in this machine.
    pub fn latency_bytes(&self) -> Option<u64> {
        Some(self.speed.window.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of storage with a latency in microseconds, and bytes in a microsecond.
    fn reads(speed: &Speed, lengths: &[u64], latency: u64, rate: u64) -> u64 {
        lengths.iter().for_each(|&bytes| speed.note(bytes, Duration::from_micros(latency + bytes / rate)));
        speed.window.load(Ordering::Relaxed)
    }

    #[test]
    fn latency_and_bandwidth_are_told_apart() {
        let lengths: Vec<u64> = (0..30).map(|nth| 1000 * (1 + nth * 7 % 50)).collect();
        let window = reads(&Speed::default(), &lengths, 5000, 100);
        assert!((480_000..520_000).contains(&window), "{window}");
        // Of reads of one length it is known that they are slow, not why.
        assert_eq!(reads(&Speed::default(), &[8000; 9], 5000, 100), 16_000);
    }

    #[test]
    fn storage_in_the_machine_is_not_slow() {
        let speed = Speed::default();
        let lengths = [4096, 4 << 20, 100, 1 << 20, 64 << 10];
        assert_eq!(reads(&speed, &lengths, 10, 2000), 0);
        assert_eq!(speed.skip.load(Ordering::Relaxed), SELDOM);
        // One that had to wait makes no difference, and more are looked at.
        assert_eq!((reads(&speed, &[4096], 20_000, 2000), speed.skip.load(Ordering::Relaxed)), (0, 0));
        assert!(reads(&speed, &[4096; 5], 20_000, 2000) > 0);
        assert_eq!(reads(&speed, &[4096; 20], 10, 2000), 0);
        assert_eq!(speed.skip.load(Ordering::Relaxed), SELDOM);
    }
}
