//! Reads that meet a write of another process.
//!
//! Lives here: [`Torn`], which counts reads of metadata and tears some of them. Does not live here: how that is noticed. Used by tests of everything that
//! reads a file while it is written.

use std::{
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{Capabilities, Driver, MemoryType, ReadPart, Result, Transfer, WritePart};

/// Which bytes of a torn read are not there yet. They are zeros, as in a file that was made longer and not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The first half.
    Front,
    /// The last half.
    Back,
    /// All bytes.
    All,
}

impl Missing {
    /// Takes the bytes away; whether that changed any.
    ///
    /// ```
    /// use hyperslab_driver::Missing;
    /// let mut bytes = [1, 2, 3, 4];
    /// assert!(Missing::Back.tear(&mut bytes));
    /// assert_eq!(bytes, [1, 2, 0, 0]);
    /// assert!(!Missing::Back.tear(&mut bytes));
    /// ```
    pub fn tear(self, bytes: &mut [u8]) -> bool {
        let whole = bytes.len() as u64;
        erase(bytes, 0, &self.of(0..whole))
    }

    /// The part of a range that is missing.
    fn of(self, Range { start, end }: Range<u64>) -> Range<u64> {
        let middle = start + end.saturating_sub(start).div_ceil(2);
        match self {
            Missing::Front => start..middle,
            Missing::Back => middle..end,
            Missing::All => start..end,
        }
    }
}

/// Makes zeros of what bytes from `addr` on have of a range; whether that changed any.
fn erase(bytes: &mut [u8], addr: u64, range: &Range<u64>) -> bool {
    let place = |end: u64| usize::try_from(end.saturating_sub(addr)).unwrap_or(usize::MAX).min(bytes.len());
    let erased = place(range.start)..place(range.end);
    let erased = bytes.get_mut(erased).unwrap_or_default();
    let changes = erased.iter().any(|byte| *byte != 0);
    erased.fill(0);
    changes
}

/// Passes requests on, and tears reads of metadata: what is given back is not what the storage has, though no error says so.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, Missing, Torn, Transfer};
/// let disk = Torn::new(Memory::from(b"metadata".to_vec()));
/// disk.arm(1, Missing::Front);
/// let mut bytes = [0; 8];
/// disk.read_at(0, &mut bytes, &Transfer::default())?;
/// assert_eq!(&bytes, b"metadata");
/// disk.read_at(0, &mut bytes, &Transfer::default())?;
/// assert_eq!(&bytes, b"\0\0\0\0data");
/// assert_eq!(disk.reads(), 2);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Torn<D> {
    below: D,
    /// Held while a count changes.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many reads of metadata there were.
    reads: u64,
    /// How many of them were changed.
    torn: u64,
    /// Which read is torn, and how.
    armed: Option<(u64, Missing)>,
    /// The bytes that are torn when they are read next.
    aim: Option<Range<u64>>,
}

impl<D: Driver> Torn<D> {
    /// Tears nothing yet.
    pub fn new(below: D) -> Self {
        Torn { below, state: Mutex::default() }
    }

    /// Lets `spare` more reads of metadata pass and tears the one after.
    pub fn arm(&self, spare: u64, missing: Missing) {
        let mut state = self.state();
        state.armed = Some((state.reads.saturating_add(spare), missing));
    }

    /// Tears the next read of metadata that has what is missing of a range, and nothing else of it.
    ///
    /// ```
    /// use hyperslab_driver::{Driver, Memory, Missing, Torn, Transfer};
    /// let disk = Torn::new(Memory::from(b"metadata".to_vec()));
    /// disk.aim(2..6, Missing::Back);
    /// let mut bytes = [0; 8];
    /// disk.read_at(0, &mut bytes, &Transfer::default())?;
    /// assert_eq!((&bytes, disk.torn()), (b"meta\0\0ta", 1));
    /// # Ok::<(), hyperslab_driver::Error>(())
    /// ```
    pub fn aim(&self, range: Range<u64>, missing: Missing) {
        self.state().aim = Some(missing.of(range));
    }

    /// How many reads of metadata there were.
    pub fn reads(&self) -> u64 {
        self.state().reads
    }

    /// How many reads of metadata were torn, and changed by it.
    pub fn torn(&self) -> u64 {
        self.state().torn
    }

    /// Counts a read of metadata, and tears it if it is its turn.
    fn count(&self, addr: u64, bytes: &mut [u8]) {
        let mut state = self.state();
        let nth = state.reads;
        state.reads += 1;
        let armed = state.armed.take_if(|(torn, _)| *torn == nth);
        let mut is_torn = armed.is_some_and(|(_, missing)| missing.tear(bytes));
        let end = addr.saturating_add(bytes.len() as u64);
        if let Some(aim) = state.aim.take_if(|aim| aim.start < end && addr < aim.end) {
            is_torn |= erase(bytes, addr, &aim);
        }
        state.torn += u64::from(is_torn);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Driver> Driver for Torn<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.below.read_at(addr, buf, transfer)?;
        if transfer.kind != MemoryType::RawData {
            self.count(addr, buf);
        }
        Ok(())
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.below.write_at(addr, buf, transfer)
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

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }

    fn below(&self) -> Option<&dyn Driver> {
        Some(&self.below)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.below.read_vector(parts, transfer)?;
        for part in parts.iter_mut().filter(|part| part.kind != MemoryType::RawData) {
            self.count(part.addr, part.buf);
        }
        Ok(())
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.below.write_vector(parts, transfer)
    }
}
