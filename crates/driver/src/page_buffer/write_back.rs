//! Writing dirty pages back. What fails to arrive is dirty still.

use super::PageBuffer;
use super::slots::Leaving;
use super::touched::Touched;
use crate::{Driver, Result, Transfer, WritePart};

/// Bytes that the storage is about to take; others wait for them until this is dropped, even if the storage panics.
struct UnderWay<'a, D: Driver> {
    buffer: &'a PageBuffer<D>,
    leaving: &'a [Leaving],
    arrived: bool,
}

impl<D: Driver> Drop for UnderWay<'_, D> {
    fn drop(&mut self) {
        self.buffer.lock().end_leaving(self.leaving, self.arrived);
        self.buffer.changed.notify_all();
    }
}

impl<D: Driver> PageBuffer<D> {
    /// One vector write for all.
    pub(super) fn write_back(&self, leaving: &[Leaving], transfer: &Transfer) -> Result<()> {
        if leaving.is_empty() {
            return Ok(());
        }
        let parts: Vec<_> = leaving
            .iter()
            .map(|Leaving { addr, bytes, .. }| WritePart { kind: transfer.kind, addr: *addr, buf: bytes })
            .collect();
        let mut under_way = UnderWay { buffer: self, leaving, arrived: false };
        self.below.write_vector(&parts, transfer)?;
        under_way.arrived = true;
        Ok(())
    }

    /// Returns when no byte of these pages that was dirty is here only. Waits for requests that write them straight down, unless
    /// that is the caller.
    pub(super) fn write_back_touched(&self, touched: &Touched, own: bool, transfer: &Transfer) -> Result<()> {
        let mut slots = self.lock();
        loop {
            if !own && slots.written_directly(touched) {
                slots = self.wait(slots);
                continue;
            }
            let leaving = slots.begin_leaving(touched);
            if !leaving.is_empty() {
                drop(slots);
                self.write_back(&leaving, transfer)?;
                slots = self.lock();
            } else if slots.is_leaving(touched) {
                slots = self.wait(slots);
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn write_back_all(&self, transfer: &Transfer) -> Result<()> {
        self.write_back_touched(&Touched::everything(), false, transfer)
    }

    /// Makes room: as many pages as there may be, unless requests hold more. Clean pages go instead of dirty ones that cannot;
    /// if there are too few it fails.
    pub(super) fn evict(&self, transfer: &Transfer) -> Result<()> {
        loop {
            let dirty = self.lock().shrink();
            if dirty.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.write_back(&dirty, transfer) {
                return if self.lock().shrink_clean() { Ok(()) } else { Err(error) };
            }
        }
    }
}
