//! Vectors of no more parts than their transfer allows.
//!
//! Lives here: [`VectorLimit`], which cuts vectors. Does not live here: the limit itself, which each request brings with it, and selections, which lowering cuts into
//! vectors within the limit. `file` puts it directly above its storage, so that no request reaches that with more parts.

use std::borrow::Cow;

use crate::{Capabilities, Driver, Mode, ReadPart, Result, SelectionPair, Transfer, WritePart};

/// Passes requests on; vectors with more parts than [`Transfer::vector_limit`] as several, in list order.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab_driver::{Driver, Log, Memory, Transfer, VectorLimit, WritePart};
/// let log = Arc::new(Log::new(Memory::new()));
/// let storage = VectorLimit::new(log.clone());
/// let parts: Vec<_> = (0..5).map(|nth| WritePart::new(nth * 10, b"part")).collect();
/// storage.write_vector(&parts, &Transfer::default().with_vector_limit(2))?;
/// assert_eq!(log.counts().writes, 3);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct VectorLimit<D> {
    below: D,
}

impl<D: Driver> VectorLimit<D> {
    /// Above a storage.
    pub fn new(below: D) -> Self {
        VectorLimit { below }
    }
}

/// The most parts of a request, and the options of each of the requests that one with so many parts is cut into: a collective call says how many these are.
fn cut(transfer: &Transfer, parts: usize) -> (usize, Cow<'_, Transfer>) {
    let limit = transfer.vector_limit.max(1);
    let requests = parts.div_ceil(limit) as u64;
    match transfer.mode {
        Mode::Collective if requests > 1 => {
            (limit, Cow::Owned(transfer.clone().with_rounds(transfer.rounds.saturating_mul(requests))))
        }
        _ => (limit, Cow::Borrowed(transfer)),
    }
}

impl<D: Driver> Driver for VectorLimit<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.below.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.below.write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.below.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
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
        let (limit, of_each) = cut(transfer, parts.len());
        match parts.len() <= limit {
            true => self.below.read_vector(parts, transfer),
            false => parts.chunks_mut(limit).try_for_each(|parts| self.below.read_vector(parts, &of_each)),
        }
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        let (limit, of_each) = cut(transfer, parts.len());
        match parts.len() <= limit {
            true => self.below.write_vector(parts, transfer),
            false => parts.chunks(limit).try_for_each(|parts| self.below.write_vector(parts, &of_each)),
        }
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.below.read_selection(pairs, bufs, transfer)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.below.write_selection(pairs, bufs, transfer)
    }
}
