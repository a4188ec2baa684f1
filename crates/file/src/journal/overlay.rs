//! Storage as it is when the blocks of a journal are in place, for those who must not put them there.

use std::sync::Arc;

use hyperslab_driver::{Capabilities, Driver, Error, MemoryType, Operation, Result, Transfer, Why};

/// A block of a journal: bytes of the storage, from `at` on, that belong to `place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) place: u64,
    pub(super) length: u64,
    pub(super) at: u64,
}

/// Reads blocks of a journal in place of what is there.
pub(super) struct Overlay {
    below: Arc<dyn Driver>,
    /// By rising place; they do not overlap.
    blocks: Vec<Block>,
    /// Without the journal.
    length: u64,
    /// With it. Behind it are only values that have a member of their own.
    stored: u64,
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn Driver>, blocks: Vec<Block>, length: u64, stored: u64) -> Overlay {
        Overlay { below, blocks, length, stored }
    }

    fn refuse(&self, operation: Operation, addr: u64, len: u64) -> Error {
        Error::new(self.name(), operation, addr, len, Why::ReadOnly)
    }
}

impl Driver for Overlay {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let len = buf.len() as u64;
        let past = |end| Error::new(self.name(), Operation::Read, addr, len, Why::PastEnd { end });
        let end = addr.checked_add(len).ok_or_else(|| past(self.length))?;
        if end > self.length && addr < self.stored {
            // Where values have a member of their own, there is a gap before their addresses.
            let whole = self.len(&transfer.clone().with_kind(MemoryType::Default))?;
            let there = usize::try_from(self.length.saturating_sub(addr)).unwrap_or(usize::MAX);
            return match buf.split_at_mut_checked(there).filter(|_| end <= whole) {
                None => Err(past(whole)),
                Some((there, gap)) => {
                    gap.fill(0);
                    self.read_at(addr, there, transfer)
                }
            };
        }
        self.below.read_at(addr, buf, transfer)?;
        let first = self.blocks.partition_point(|block| block.place + block.length <= addr);
        for block in self.blocks.iter().skip(first).take_while(|block| block.place < end) {
            let (from, to) = (block.place.max(addr), (block.place + block.length).min(end));
            let part = buf.get_mut((from - addr) as usize..(to - addr) as usize).unwrap_or_default();
            self.below.read_at(block.at + (from - block.place), part, transfer)?;
        }
        Ok(())
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        if buf.is_empty() { Ok(()) } else { Err(self.refuse(Operation::Write, addr, buf.len() as u64)) }
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        let length = self.below.len(transfer)?;
        Ok(if length == self.stored { self.length } else { length })
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        Err(self.refuse(Operation::SetLen, len, 0))
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &str {
        self.below.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities() & Capabilities::KINDS_APART
    }
}
