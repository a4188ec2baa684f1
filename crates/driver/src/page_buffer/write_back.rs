//! Writing dirty pages back. What fails to arrive is dirty still.

use super::PageBuffer;
use super::slots::Leaving;
use super::touched::Touched;
use crate::{Driver, Result, Transfer, WritePart};

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
        let outcome = self.below.write_vector(&parts, transfer);
        self.lock().end_leaving(leaving, outcome.is_ok());
        self.changed.notify_all();
        outcome
    }

    /// Returns when no byte of these pages that was dirty is here only. Waits for whoever writes them straight down, unless
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

    /// Makes room: as many pages as there may be, unless requests hold more.
    pub(super) fn evict(&self, transfer: &Transfer) -> Result<()> {
        loop {
            let dirty = self.lock().shrink();
            if dirty.is_empty() {
                return Ok(());
            }
            self.write_back(&dirty, transfer)?;
        }
    }
}
