//! Storage that remembers how it came to be, for tests of what a crash leaves.
//!
//! Lives here: [`Tape`] and its [`Change`]s. Does not live here: faults; those are `fault`'s.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Driver, Memory, MemoryType, Result, Transfer};

/// One step in the life of a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes were written; each part of a vector is a step of its own.
    Write {
        /// What they are, as the request said.
        kind: MemoryType,
        /// Where.
        addr: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The storage was cut or extended.
    SetLen(u64),
    /// What was written before is durable.
    Sync,
    /// What was written before has left the process.
    Flush,
}

impl Change {
    /// Does it again, to bytes that are as they were before it.
    pub fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write { addr, bytes, .. } => {
                let start = usize::try_from(*addr).unwrap_or(usize::MAX);
                let end = start.saturating_add(bytes.len());
                if to.len() < end {
                    to.resize(end, 0);
                }
                if let Some(place) = to.get_mut(start..end) {
                    place.copy_from_slice(bytes);
                }
            }
            Change::SetLen(len) => to.resize(usize::try_from(*len).unwrap_or(usize::MAX), 0),
            Change::Sync | Change::Flush => {}
        }
    }
}

/// Storage in memory that remembers every change, so that each state it was ever in can be looked at.
///
/// ```
/// use hyperslab_driver::{Driver, Tape, Transfer};
/// let tape = Tape::default();
/// tape.write_at(0, b"ab", &Transfer::default())?;
/// tape.write_at(1, b"xy", &Transfer::default())?;
/// let mut bytes = Vec::new();
/// let states: Vec<Vec<u8>> = tape.changes().iter().map(|change| { change.apply(&mut bytes); bytes.clone() }).collect();
/// assert_eq!(states, [b"ab".to_vec(), b"axy".to_vec()]);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Tape {
    storage: Memory,
    changes: Mutex<Vec<Change>>,
}

impl From<Vec<u8>> for Tape {
    /// Storage that begins with these bytes.
    fn from(bytes: Vec<u8>) -> Self {
        Tape { storage: Memory::from(bytes), changes: Mutex::default() }
    }
}

impl Tape {
    /// All changes so far, oldest first.
    pub fn changes(&self) -> Vec<Change> {
        self.tape().clone()
    }

    /// Forgets the changes so far; says what the storage holds now.
    pub fn cut(&self) -> Result<Vec<u8>> {
        let mut tape = self.tape();
        tape.clear();
        let mut bytes = vec![0; usize::try_from(self.storage.len(&Transfer::default())?).unwrap_or(0)];
        self.storage.read_at(0, &mut bytes, &Transfer::default())?;
        Ok(bytes)
    }

    fn tape(&self) -> MutexGuard<'_, Vec<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Tape {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.storage.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        let mut tape = self.tape();
        self.storage.write_at(addr, buf, transfer)?;
        if !buf.is_empty() {
            tape.push(Change::Write { kind: transfer.kind, addr, bytes: buf.to_vec() });
        }
        Ok(())
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.storage.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        let mut tape = self.tape();
        self.storage.set_len(len, transfer)?;
        tape.push(Change::SetLen(len));
        Ok(())
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        self.tape().push(Change::Sync);
        Ok(())
    }

    fn flush(&self, _: &Transfer) -> Result<()> {
        self.tape().push(Change::Flush);
        Ok(())
    }

    fn name(&self) -> &str {
        "tape"
    }
}
