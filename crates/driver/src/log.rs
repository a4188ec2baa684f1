//! Storage that remembers what it was asked.
//!
//! Lives here: [`Log`], its records and counts. Does not live here: text output. Used by tests that assert an I/O pattern, and for
//! statistics.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::{
    Capabilities, CtlFlags, CtlOp, CtlReply, Driver, Operation, ReadPart, Result, SelectionPair, Transfer, WritePart,
    ctl,
};

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// What was asked.
    pub operation: Operation,
    /// Address and length of each part of a vector; of a selection, the offset and the bytes of each pair.
    pub parts: Vec<(u64, u64)>,
    /// The control operation, if it was one.
    pub ctl: Option<CtlOp>,
}

impl Record {
    /// All bytes of the request.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, len)| sum.saturating_add(*len))
    }
}

/// How much was asked of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Requests that read, whatever their form.
    pub reads: u64,
    /// Requests that write, whatever their form.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Syncs.
    pub syncs: u64,
    /// All requests.
    pub requests: u64,
}

/// Passes every request on and remembers it.
///
/// ```
/// use hyperslab_driver::{Driver, Log, Memory, Operation, Transfer};
/// let log = Log::new(Memory::from(vec![0; 100]));
/// log.read_at(10, &mut [0; 20], &Transfer::default())?;
/// let records = log.records();
/// assert_eq!((records[0].operation, records[0].parts.as_slice()), (Operation::Read, &[(10, 20)][..]));
/// assert_eq!(log.counts().read_bytes, 20);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Log<D> {
    below: D,
    keep: usize,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    counts: Counts,
    records: VecDeque<Record>,
}

impl<D: Driver> Log<D> {
    /// Remembers every request.
    pub fn new(below: D) -> Self {
        Log { below, keep: usize::MAX, seen: Mutex::default() }
    }

    /// Counts every request, but remembers only the last so many.
    #[must_use]
    pub fn keep(self, keep: usize) -> Self {
        Log { keep, ..self }
    }

    /// The storage below.
    pub fn below_ref(&self) -> &D {
        &self.below
    }

    /// The requests so far, oldest first.
    pub fn records(&self) -> Vec<Record> {
        self.seen().records.iter().cloned().collect()
    }

    /// The numbers so far.
    pub fn counts(&self) -> Counts {
        self.seen().counts
    }

    /// Forgets everything so far.
    pub fn clear(&self) {
        *self.seen() = Seen::default();
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, operation: Operation, parts: impl Iterator<Item = (u64, u64)>, ctl: Option<CtlOp>) {
        let record = Record { operation, parts: parts.collect(), ctl };
        let (bytes, mut seen) = (record.bytes(), self.seen());
        let Seen { counts, records } = &mut *seen;
        counts.requests += 1;
        if operation.is_read() {
            counts.reads += 1;
            counts.read_bytes = counts.read_bytes.saturating_add(bytes);
        }
        if operation.is_write() {
            counts.writes += 1;
            counts.written_bytes = counts.written_bytes.saturating_add(bytes);
        }
        counts.syncs += u64::from(operation == Operation::Sync);
        records.push_back(record);
        if records.len() > self.keep {
            records.pop_front();
        }
    }
}

fn pairs_of<'a>(pairs: &'a [SelectionPair<'_>]) -> impl Iterator<Item = (u64, u64)> + 'a {
    pairs.iter().map(|pair| (pair.offset, pair.bytes()))
}

impl<D: Driver> Driver for Log<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.note(Operation::Read, [(addr, buf.len() as u64)].into_iter(), None);
        self.below.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.note(Operation::Write, [(addr, buf.len() as u64)].into_iter(), None);
        self.below.write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.note(Operation::Len, [].into_iter(), None);
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.note(Operation::SetLen, [(len, 0)].into_iter(), None);
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.note(Operation::Sync, [].into_iter(), None);
        self.below.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.note(Operation::Flush, [].into_iter(), None);
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
        self.note(Operation::ReadVector, parts.iter().map(|part| (part.addr, part.buf.len() as u64)), None);
        self.below.read_vector(parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.note(Operation::WriteVector, parts.iter().map(|part| (part.addr, part.buf.len() as u64)), None);
        self.below.write_vector(parts, transfer)
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.note(Operation::ReadSelection, pairs_of(pairs), None);
        self.below.read_selection(pairs, bufs, transfer)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.note(Operation::WriteSelection, pairs_of(pairs), None);
        self.below.write_selection(pairs, bufs, transfer)
    }

    fn ctl(&self, op: CtlOp, flags: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
        self.note(Operation::Ctl, [].into_iter(), Some(op));
        ctl::unknown(self, op, flags, input)
    }
}
