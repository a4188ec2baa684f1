//! Storage that fails on purpose.
//!
//! Lives here: [`Fault`], which counts requests and strikes, and the damaged storage that the struck request sees (`damaged`).
//! Does not live here: recovery. Used by tests of everything that must survive a failing disk.

mod damaged;

use std::sync::{Mutex, PoisonError};

use crate::{Capabilities, Driver, Error, Operation, ReadPart, Result, SelectionPair, Transfer, Why, WritePart};
use damaged::Damaged;

/// Which requests count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Those that read, in any form.
    Reads,
    /// Those that write, in any form.
    Writes,
    /// Syncs, flushes and changes of length.
    Upkeep,
    /// All of these.
    All,
}

impl Target {
    fn matches(self, operation: Operation) -> bool {
        match self {
            Target::Reads => operation.is_read(),
            Target::Writes => operation.is_write(),
            Target::Upkeep => matches!(operation, Operation::Sync | Operation::Flush | Operation::SetLen),
            Target::All => true,
        }
    }
}

/// What happens to the request that is struck. It returns an error in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Nothing of it is done.
    Fail,
    /// So many bytes are done, in list order.
    Tear(u64),
    /// The parts before this one are done.
    TearAtPart(usize),
    /// As [`Damage::Tear`], but it looks as if the storage ended in the part that is torn.
    Shorten(u64),
}

/// Passes requests on until one is struck.
///
/// ```
/// use hyperslab_driver::{Damage, Driver, Fault, Memory, Target, Transfer};
/// let disk = Fault::new(Memory::new());
/// disk.arm(Target::Writes, 1, Damage::Tear(2));
/// disk.write_at(0, b"good", &Transfer::default())?;
/// assert!(disk.write_at(0, b"torn", &Transfer::default()).is_err());
/// assert_eq!(disk.into_below().into_bytes(), b"tood");
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Fault<D> {
    below: D,
    armed: Mutex<Vec<Strike>>,
}

#[derive(Debug)]
struct Strike {
    target: Target,
    /// How many matching requests still pass.
    spare: u64,
    damage: Damage,
    forever: bool,
}

impl<D: Driver> Fault<D> {
    /// Strikes nothing yet.
    pub fn new(below: D) -> Self {
        Fault { below, armed: Mutex::default() }
    }

    /// Lets `spare` more requests of the target pass and strikes the one after.
    pub fn arm(&self, target: Target, spare: u64, damage: Damage) {
        self.push(Strike { target, spare, damage, forever: false });
    }

    /// As [`Fault::arm`], but every request of the target from then on is struck.
    pub fn arm_forever(&self, target: Target, spare: u64, damage: Damage) {
        self.push(Strike { target, spare, damage, forever: true });
    }

    /// Strikes nothing from now on.
    pub fn disarm(&self) {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The storage without the faults.
    pub fn into_below(self) -> D {
        self.below
    }

    fn push(&self, strike: Strike) {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner).push(strike);
    }

    /// Counts a request and tells what strikes it.
    fn count(&self, operation: Operation) -> Option<Damage> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut struck = None;
        armed.retain_mut(|strike| {
            if !strike.target.matches(operation) {
                return true;
            }
            if strike.spare > 0 {
                strike.spare -= 1;
                return true;
            }
            struck = struck.or(Some(strike.damage));
            strike.forever
        });
        struck
    }

    /// Runs a request that moves bytes.
    fn run(&self, operation: Operation, request: impl FnOnce(&dyn Driver) -> Result<()>) -> Result<()> {
        let Some(damage) = self.count(operation) else { return request(&self.below) };
        let damaged = Damaged::new(&self.below, damage);
        request(&damaged)?;
        Err(damaged.too_late(operation))
    }

    /// Runs a request that moves none.
    fn upkeep(&self, operation: Operation, request: impl FnOnce(&D) -> Result<()>) -> Result<()> {
        match self.count(operation) {
            Some(_) => Err(Error::new(self.name(), operation, 0, 0, Why::Injected { done: 0 })),
            None => request(&self.below),
        }
    }
}

impl<D: Driver> Driver for Fault<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.run(Operation::Read, |below| below.read_at(addr, buf, transfer))
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.run(Operation::Write, |below| below.write_at(addr, buf, transfer))
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.upkeep(Operation::SetLen, |below| below.set_len(len, transfer))
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.upkeep(Operation::Sync, |below| below.sync(transfer))
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.upkeep(Operation::Flush, |below| below.flush(transfer))
    }

    fn name(&self) -> &str {
        self.below.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }

    fn below(&self) -> Option<&dyn Driver> {
        Some(&self.below)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.run(Operation::ReadVector, |below| below.read_vector(parts, transfer))
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.run(Operation::WriteVector, |below| below.write_vector(parts, transfer))
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.run(Operation::ReadSelection, |below| below.read_selection(pairs, bufs, transfer))
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.run(Operation::WriteSelection, |below| below.write_selection(pairs, bufs, transfer))
    }
}
