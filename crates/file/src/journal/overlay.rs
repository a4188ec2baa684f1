//! Storage as it is when the blocks of a journal are in place, for those who must not put them there.

use std::sync::Arc;

use hyperslab_driver::{Capabilities, Driver, Error, Operation, Result, Transfer, Why};

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
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn Driver>, blocks: Vec<Block>, length: u64) -> Overlay {
        Overlay { below, blocks, length }
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
        let end = addr.checked_add(len).filter(|end| *end <= self.length);
        let past = || Error::new(self.name(), Operation::Read, addr, len, Why::PastEnd { end: self.length });
        let end = end.ok_or_else(past)?;
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

    fn len(&self, _: &Transfer) -> Result<u64> {
        Ok(self.length)
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
        Capabilities::empty()
    }
}
