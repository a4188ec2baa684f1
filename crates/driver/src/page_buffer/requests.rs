//! Each form of request, on the way that it takes.

use super::PageBuffer;
use super::strategy::Path;
use super::touched::Touched;
use crate::lower::{self, Segments};
use crate::{Capabilities, Driver, MemoryType, Operation, ReadPart, Result, SelectionPair, Transfer, WritePart};

impl<D: Driver> PageBuffer<D> {
    fn read_parts(&self, path: Path, parts: &mut [ReadPart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        match path {
            Path::Split => self.read_split(parts, touched, transfer),
            _ => self.shrink_after(self.read_paged(parts, touched, transfer), transfer),
        }
    }

    fn write_parts(&self, path: Path, parts: &[WritePart<'_>], touched: &Touched, transfer: &Transfer) -> Result<()> {
        match path {
            Path::Split => self.write_split(parts, touched, transfer),
            _ => self.shrink_after(self.write_paged(parts, touched, transfer), transfer),
        }
    }

    /// After a request that may have had more pages than there may be, they go. What cannot be written back stays, and the next flush tells.
    fn shrink_after(&self, outcome: Result<()>, transfer: &Transfer) -> Result<()> {
        if self.may_grow(transfer.kind) {
            let _kept = self.evict(transfer);
        }
        outcome
    }

    /// Whether a selection becomes vectors here. Else it goes straight down whole.
    fn is_lowered(&self, path: Path, touched: &Touched) -> bool {
        match path {
            Path::Paged => true,
            Path::Direct => false,
            Path::Split => !self.is_absent(touched),
        }
    }
}

impl<D: Driver> Driver for PageBuffer<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        let touched = self.touched(Operation::Read, [(addr, buf.len())].into_iter())?;
        match self.read_path(transfer.kind, &touched) {
            Path::Direct => {
                self.read_direct(Operation::Read, &touched, transfer, |below| below.read_at(addr, buf, transfer))
            }
            path => self.read_parts(path, &mut [ReadPart { kind: transfer.kind, addr, buf }], &touched, transfer),
        }
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        let touched = self.touched(Operation::Write, [(addr, buf.len())].into_iter())?;
        self.check_write(Operation::Write, &touched)?;
        match self.write_path(transfer.kind, &touched) {
            Path::Direct => {
                let written = || [(addr, buf)].into_iter();
                self.write_direct(&touched, transfer, |below| below.write_at(addr, buf, transfer), written)
            }
            path => self.write_parts(path, &[WritePart { kind: transfer.kind, addr, buf }], &touched, transfer),
        }
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        match self.apart && transfer.kind != MemoryType::Default {
            true => self.below.len(transfer),
            false => Ok(self.lock().len()),
        }
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        match self.apart && transfer.kind != MemoryType::Default {
            true => self.resize_kind(len, transfer),
            false => self.resize(len, transfer),
        }
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.write_back_all(transfer)?;
        self.below.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.write_back_all(transfer)?;
        self.below.flush(transfer)
    }

    fn name(&self) -> &str {
        self.below.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities() | Capabilities::VECTOR
    }

    fn below(&self) -> Option<&dyn Driver> {
        Some(&self.below)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        let touched = self.touched(Operation::ReadVector, parts.iter().map(|part| (part.addr, part.buf.len())))?;
        match self.read_path(transfer.kind, &touched) {
            Path::Direct => {
                let read = |below: &D| below.read_vector(parts, transfer);
                self.read_direct(Operation::ReadVector, &touched, transfer, read)
            }
            path => self.read_parts(path, parts, &touched, transfer),
        }
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        let touched = self.touched(Operation::WriteVector, parts.iter().map(|part| (part.addr, part.buf.len())))?;
        self.check_write(Operation::WriteVector, &touched)?;
        match self.write_path(transfer.kind, &touched) {
            Path::Direct => {
                let written = || parts.iter().map(|part| (part.addr, part.buf));
                self.write_direct(&touched, transfer, |below| below.write_vector(parts, transfer), written)
            }
            path => self.write_parts(path, parts, &touched, transfer),
        }
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        let sizes: Vec<_> = bufs.iter().map(|buf| buf.len()).collect();
        let touched = self.touched_by(Operation::ReadSelection, pairs, &sizes)?;
        if self.is_lowered(self.read_path(transfer.kind, &touched), &touched) {
            return lower::read_selection(self, pairs, bufs, transfer);
        }
        let read = |below: &D| below.read_selection(pairs, bufs, transfer);
        self.read_direct(Operation::ReadSelection, &touched, transfer, read)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        let sizes: Vec<_> = bufs.iter().map(|buf| buf.len()).collect();
        let touched = self.touched_by(Operation::WriteSelection, pairs, &sizes)?;
        self.check_write(Operation::WriteSelection, &touched)?;
        if self.is_lowered(self.write_path(transfer.kind, &touched), &touched) {
            return lower::write_selection(self, pairs, bufs, transfer);
        }
        let written = || {
            let segments = Segments::new(pairs, &sizes).into_iter().flatten();
            segments.filter_map(|segment| {
                Some((segment.addr, bufs.get(segment.buffer)?.get(segment.start..segment.end())?))
            })
        };
        self.write_direct(&touched, transfer, |below| below.write_selection(pairs, bufs, transfer), written)
    }
}
