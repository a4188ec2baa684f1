//! Requests of which the pages that are here serve their part, and the storage the rest. They bring no page and wait for none.

use super::PageBuffer;
use super::direct::Direct;
use super::touched::Touched;
use crate::{Driver, Operation, ReadPart, Result, Transfer, WritePart};

impl<D: Driver> PageBuffer<D> {
    pub(super) fn read_split(&self, parts: &mut [ReadPart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        self.check_end(Operation::Read, touched)?;
        let mut slots = self.lock();
        while slots.written_directly(touched) {
            slots = self.wait(slots);
        }
        let mut absent = Vec::new();
        for ReadPart { kind, addr, buf } in parts {
            slots.read_resident(*addr, buf, |addr, buf| absent.push(ReadPart { kind: *kind, addr, buf }));
        }
        drop(slots);
        if absent.is_empty() { Ok(()) } else { self.below.read_vector(&mut absent, transfer) }
    }

    pub(super) fn write_split(&self, parts: &[WritePart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        let mut slots = self.lock();
        // Requests that load pages hold them, so pages that are not here and free stay absent until this request has written them.
        let pages = loop {
            let pages = slots.absent(touched);
            if slots.is_free(&pages) && !slots.written_directly(touched) {
                break pages;
            }
            slots = self.wait(slots);
        };
        let mut absent = Vec::new();
        for WritePart { kind, addr, buf } in parts {
            slots.write_resident(*addr, buf, |addr, buf| absent.push(WritePart { kind: *kind, addr, buf }));
        }
        if absent.is_empty() {
            return Ok(());
        }
        let _direct = Direct::begin(self, slots, &pages);
        let outcome = self.below.write_vector(&absent, transfer);
        self.end_write(outcome, &pages, transfer, || absent.iter().map(|part| (part.addr, part.buf)))
    }

    /// Whether no page of a request is here.
    pub(super) fn is_absent(&self, touched: &Touched) -> bool {
        self.lock().is_absent(touched)
    }
}
