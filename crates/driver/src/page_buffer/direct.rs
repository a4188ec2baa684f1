//! Requests that go straight down, with the pages kept true.

use std::sync::MutexGuard;

use super::PageBuffer;
use super::slots::Slots;
use super::touched::Touched;
use crate::{Driver, MemoryType, Operation, Result, Transfer};

/// Pages that one request writes straight down; others keep off them until this is dropped.
pub(super) struct Direct<'a, D: Driver> {
    buffer: &'a PageBuffer<D>,
    number: u64,
}

impl<'a, D: Driver> Direct<'a, D> {
    /// From now on. The pages must be free.
    pub(super) fn begin(buffer: &'a PageBuffer<D>, mut slots: MutexGuard<'_, Slots>, touched: &Touched) -> Self {
        let number = slots.begin_direct(touched);
        Direct { buffer, number }
    }
}

impl<D: Driver> Drop for Direct<'_, D> {
    fn drop(&mut self) {
        self.buffer.lock().end_direct(self.number);
        self.buffer.changed.notify_all();
    }
}

impl<D: Driver> PageBuffer<D> {
    pub(super) fn read_direct(
        &self,
        operation: Operation,
        touched: &Touched,
        transfer: &Transfer,
        read: impl FnOnce(&D) -> Result<()>,
    ) -> Result<()> {
        self.check_end(operation, touched)?;
        if touched.end() > self.lock().stored() {
            // The end of the storage lies in a dirty page, perhaps one that the request does not touch.
            self.write_back_all(transfer)?;
        } else {
            self.write_back_touched(touched, false, transfer)?;
        }
        read(&self.below)
    }

    /// Writes straight down, and then `written` to the pages that are here. If that fails they are dropped: it is unknown which of
    /// the bytes the storage has.
    pub(super) fn write_direct<'b, W: Iterator<Item = (u64, &'b [u8])>>(
        &self,
        touched: &Touched,
        transfer: &Transfer,
        write: impl FnOnce(&D) -> Result<()>,
        written: impl FnOnce() -> W,
    ) -> Result<()> {
        let _direct = self.keep_off(touched);
        self.write_back_touched(touched, true, transfer)?;
        self.end_write(write(&self.below), touched, transfer, written)
    }

    /// What came of writing these pages straight down.
    pub(super) fn end_write<'b, W: Iterator<Item = (u64, &'b [u8])>>(
        &self,
        outcome: Result<()>,
        touched: &Touched,
        transfer: &Transfer,
        written: impl FnOnce() -> W,
    ) -> Result<()> {
        match outcome {
            Ok(()) => {
                let mut slots = self.lock();
                written().for_each(|(addr, bytes)| slots.wrote_directly(addr, bytes));
                Ok(())
            }
            Err(error) => {
                let stored = self.stored_len(transfer).unwrap_or(0);
                self.lock().forget(touched, stored);
                Err(error)
            }
        }
    }

    /// Makes the storage longer beside requests that end before `len`, because it has room for what they write then; else alone.
    pub(super) fn resize(&self, len: u64, transfer: &Transfer) -> Result<()> {
        let (mut slots, behind) = (self.lock(), Touched::from(self.page_size, len));
        while len < slots.len() || !slots.all_end_before(len, &behind) {
            if slots.is_free(&Touched::everything()) {
                let _direct = Direct::begin(self, slots, &Touched::everything());
                self.below.set_len(len, transfer)?;
                self.lock().resized(len);
                return Ok(());
            }
            slots = self.wait(slots);
        }
        let _direct = Direct::begin(self, slots, &behind);
        self.below.set_len(len, transfer)?;
        self.lock().lengthened(len);
        Ok(())
    }

    /// As [`PageBuffer::resize`], of one kind where each has its end. No page of another kind that is dirty may be lost, so none stays dirty.
    pub(super) fn resize_kind(&self, len: u64, transfer: &Transfer) -> Result<()> {
        let everything = Touched::everything();
        let _direct = self.keep_off(&everything);
        self.write_back_touched(&everything, true, transfer)?;
        self.below.set_len(len, transfer)?;
        let stored = self.stored_len(transfer)?;
        self.lock().resized_in_part(len, stored);
        Ok(())
    }

    /// The length of the storage below, whatever the kind of the transfer.
    pub(super) fn stored_len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(&transfer.clone().with_kind(MemoryType::Default))
    }

    /// Waits until no request uses these pages.
    fn keep_off(&self, touched: &Touched) -> Direct<'_, D> {
        let mut slots = self.lock();
        while !slots.is_free(touched) {
            slots = self.wait(slots);
        }
        Direct::begin(self, slots, touched)
    }
}
