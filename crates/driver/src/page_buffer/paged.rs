//! Requests served from pages.
//!
//! If all pages are here, the request copies and is done. Else it holds all its pages, or waits and holds none; then it makes room, loads what is missing with one vector read,
//! waits for what others are loading, and copies.

use std::sync::MutexGuard;

use super::PageBuffer;
use super::slots::Slots;
use super::touched::Touched;
use crate::{Driver, Error, MemoryType, Operation, ReadPart, Result, Transfer, Why, WritePart};

/// No larger part of all pages comes ahead.
const PART: u64 = 8;

/// The pages of a request, held until this is dropped.
struct Held<'a, D: Driver> {
    buffer: &'a PageBuffer<D>,
    touched: &'a Touched,
}

impl<D: Driver> Drop for Held<'_, D> {
    fn drop(&mut self) {
        self.buffer.lock().release(self.touched);
        self.buffer.changed.notify_all();
    }
}

/// Pages that a request is loading; others wait for them until this is dropped, even if the storage panics.
struct Loading<'a, D: Driver> {
    buffer: &'a PageBuffer<D>,
    missing: Vec<u64>,
    /// Their bytes; fewer if it went wrong.
    loaded: Vec<Vec<u8>>,
}

impl<D: Driver> Drop for Loading<'_, D> {
    fn drop(&mut self) {
        let mut slots = self.buffer.lock();
        let mut loaded = std::mem::take(&mut self.loaded).into_iter();
        self.missing.iter().for_each(|page| slots.end_load(*page, loaded.next()));
        self.buffer.changed.notify_all();
    }
}

impl<D: Driver> PageBuffer<D> {
    pub(super) fn read_paged(&self, parts: &mut [ReadPart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        if let Some(slots) = self.hit(touched)
            && touched.end() <= slots.len()
        {
            parts.iter_mut().for_each(|part| slots.read(part.addr, part.buf));
            return Ok(());
        }
        self.load_ahead(touched, transfer);
        let _held = self.hold(touched, transfer.kind);
        self.check_end(Operation::Read, touched)?;
        // What cannot be written back stays dirty, and reads go on: with their own pages there are at most twice as many as
        // there should be.
        let _kept = self.evict(transfer);
        let slots = self.load(touched, transfer, |_| true)?;
        parts.iter_mut().for_each(|part| slots.read(part.addr, part.buf));
        Ok(())
    }

    pub(super) fn write_paged(&self, parts: &[WritePart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        if let Some(mut slots) = self.hit(touched) {
            parts.iter().for_each(|part| slots.write(part.addr, part.buf));
            return Ok(());
        }
        let _held = self.hold(touched, transfer.kind);
        self.evict(transfer)?;
        // A page that one part fills need not be loaded.
        let size = self.page_size as u64;
        let filled = self.touched(Operation::Write, parts.iter().filter_map(|part| inner(size, part)))?;
        let mut slots = self.load(touched, transfer, |page| !filled.contains(page))?;
        parts.iter().for_each(|part| slots.write(part.addr, part.buf));
        Ok(())
    }

    /// The pages, locked, if all that are touched are here and free to use.
    fn hit(&self, touched: &Touched) -> Option<MutexGuard<'_, Slots>> {
        let mut slots = self.lock();
        slots.use_if_here(touched).then_some(slots)
    }

    /// Loads the pages of a read of metadata and some behind them, if it goes on where pages end that are here. It waits for no request that is in the way, and if the storage
    /// fails, the read itself finds out whether that was for a page that it needs.
    fn load_ahead(&self, touched: &Touched, transfer: &Transfer) {
        let room = (self.share(transfer.kind) as u64).saturating_sub(touched.count());
        let more = self.ahead.min(self.capacity as u64 / PART).min(room);
        if more == 0 || transfer.kind == MemoryType::RawData || touched.end() > self.lock().len() {
            return;
        }
        let mut slots = self.lock();
        let Some(longer) = slots.follow(touched, more).filter(|longer| slots.can_hold(longer, false)) else { return };
        slots.hold(&longer, transfer.kind);
        drop(slots);
        let _held = Held { buffer: self, touched: &longer };
        if self.evict(transfer).is_ok() {
            drop(self.load(&longer, transfer, |_| true));
        }
    }

    fn hold<'a>(&'a self, touched: &'a Touched, kind: MemoryType) -> Held<'a, D> {
        let mut slots = self.lock();
        while !slots.can_hold(touched, self.may_grow(kind)) {
            slots = self.wait(slots);
        }
        slots.hold(touched, kind);
        Held { buffer: self, touched }
    }

    /// A read must end where the storage does, at the latest.
    pub(super) fn check_end(&self, operation: Operation, touched: &Touched) -> Result<()> {
        let end = self.lock().len();
        if touched.end() <= end {
            return Ok(());
        }
        let (addr, len) = touched.last();
        Err(Error::new(self.name(), operation, addr, len as u64, Why::PastEnd { end }))
    }

    /// Returns, still locked, when every page that is `needed` is here and no other is being loaded.
    fn load(
        &self,
        touched: &Touched,
        transfer: &Transfer,
        needed: impl Fn(u64) -> bool,
    ) -> Result<MutexGuard<'_, Slots>> {
        let mut slots = self.lock();
        loop {
            let missing = slots.begin_load(touched, &needed);
            if !missing.is_empty() {
                let stored = slots.stored();
                drop(slots);
                let mut loading = Loading { buffer: self, missing, loaded: Vec::new() };
                loading.loaded = self.load_pages(&loading.missing, stored, transfer)?;
                drop(loading);
                slots = self.lock();
            } else if slots.is_loading(touched) {
                slots = self.wait(slots);
            } else {
                return Ok(slots);
            }
        }
    }

    /// One vector read for all. Beyond the end of the storage a page is zeros.
    fn load_pages(&self, pages: &[u64], stored: u64, transfer: &Transfer) -> Result<Vec<Vec<u8>>> {
        let size = self.page_size as u64;
        // Not as clones of one page: the system has zeros at hand.
        let mut loaded: Vec<_> = pages.iter().map(|_| vec![0; self.page_size]).collect();
        let mut parts: Vec<_> = pages
            .iter()
            .zip(&mut loaded)
            .filter_map(|(page, bytes)| {
                let there = usize::try_from(stored.saturating_sub(page * size).min(size)).ok()?;
                Some(ReadPart { kind: transfer.kind, addr: page * size, buf: bytes.get_mut(..there)? })
            })
            .collect();
        self.below.read_vector(&mut parts, transfer)?;
        Ok(loaded)
    }
}

/// The whole pages of a part.
fn inner(page_size: u64, part: &WritePart<'_>) -> Option<(u64, usize)> {
    let first = part.addr.checked_next_multiple_of(page_size)?;
    let end = part.addr.checked_add(part.buf.len() as u64)?;
    let len = (end - end % page_size).checked_sub(first)?;
    Some((first, usize::try_from(len).ok()?))
}
