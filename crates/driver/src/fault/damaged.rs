//! The storage that a struck request sees: it does so much of it and fails.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Damage;
use crate::{Driver, Error, Operation, Result, Transfer, Why};

/// The storage as the struck request sees it. Selections reach it lowered, by the defaults of the trait.
pub(super) struct Damaged<'a, D> {
    below: &'a D,
    damage: Damage,
    done: AtomicU64,
    parts_done: AtomicU64,
}

impl<'a, D: Driver> Damaged<'a, D> {
    pub(super) fn new(below: &'a D, damage: Damage) -> Self {
        Damaged { below, damage, done: AtomicU64::new(0), parts_done: AtomicU64::new(0) }
    }

    /// How many bytes of the next part are done.
    fn allow(&self, len: usize) -> usize {
        let part = self.parts_done.fetch_add(1, Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        let left = match self.damage {
            Damage::Fail => 0,
            Damage::Tear(bytes) | Damage::Shorten(bytes) => bytes.saturating_sub(done),
            Damage::TearAtPart(at) if part < at as u64 => u64::MAX,
            Damage::TearAtPart(_) => 0,
        };
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(len);
        self.done.fetch_add(now as u64, Ordering::Relaxed);
        now
    }

    /// The error of a part of which so many bytes are done.
    fn broken(&self, operation: Operation, addr: u64, len: usize, now: usize) -> Error {
        let why = match self.damage {
            Damage::Shorten(_) if operation.is_write() => Why::Io(io::ErrorKind::StorageFull.into()),
            Damage::Shorten(_) => Why::PastEnd { end: addr.saturating_add(now as u64) },
            _ => Why::Injected { done: self.done.load(Ordering::Relaxed) },
        };
        Error::new(self.below.name(), operation, addr, len as u64, why)
    }

    /// The error of a request that was over before the damage came.
    pub(super) fn too_late(&self, operation: Operation) -> Error {
        let done = self.done.load(Ordering::Relaxed);
        Error::new(self.below.name(), operation, 0, done, Why::Injected { done })
    }
}

impl<D: Driver> Driver for Damaged<'_, D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        let (len, now) = (buf.len(), self.allow(buf.len()));
        if now > 0 {
            self.below.read_at(addr, buf.get_mut(..now).unwrap_or_default(), transfer)?;
        }
        if now < len { Err(self.broken(Operation::Read, addr, len, now)) } else { Ok(()) }
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        let (len, now) = (buf.len(), self.allow(buf.len()));
        if now > 0 {
            self.below.write_at(addr, buf.get(..now).unwrap_or_default(), transfer)?;
        }
        if now < len { Err(self.broken(Operation::Write, addr, len, now)) } else { Ok(()) }
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.below.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.below.flush(transfer)
    }

    fn name(&self) -> &str {
        self.below.name()
    }
}
