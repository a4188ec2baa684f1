//! Reads that meet a write of another process.
//!
//! Lives here: [`Torn`], which counts reads of metadata and tears some of them. Does not live here: how that is noticed. Used by tests of everything that
//! reads a file while it is written.

use std::sync::{Mutex, MutexGuard, PoisonError};

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
        let middle = bytes.len().div_ceil(2);
        let missing = match self {
            Missing::Front => bytes.get_mut(..middle),
            Missing::Back => bytes.get_mut(middle..),
            Missing::All => Some(bytes),
        };
        let missing = missing.unwrap_or_default();
        let changes = missing.iter().any(|byte| *byte != 0);
        missing.fill(0);
        changes
    }
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
    /// Which read is torn, and how.
    armed: Option<(u64, Missing)>,
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

    /// How many reads of metadata there were.
    pub fn reads(&self) -> u64 {
        self.state().reads
    }

    /// Counts a read of metadata and tells how it is torn.
    fn count(&self) -> Option<Missing> {
        let mut state = self.state();
        let nth = state.reads;
        state.reads += 1;
        state.armed.take_if(|(torn, _)| *torn == nth).map(|(_, missing)| missing)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Driver> Driver for Torn<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.below.read_at(addr, buf, transfer)?;
        if transfer.kind != MemoryType::RawData
            && let Some(missing) = self.count()
        {
            missing.tear(buf);
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
            if let Some(missing) = self.count() {
                missing.tear(part.buf);
            }
        }
        Ok(())
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.below.write_vector(parts, transfer)
    }
}
