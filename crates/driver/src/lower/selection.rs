//! Selections as vectors.
//!
//! Lives here: the defaults of `read_selection` and `write_selection`: batches of segments, each one vector. Does not live
//! here: walking selections (`segment`) and cutting buffers (`carve`).

use crate::lower::{Segment, Segments, carve};
use crate::{Driver, Error, Mode, Operation, Result, SelectionPair, Transfer, Why, WritePart};

/// Reads selections with [`Driver::read_vector`].
///
/// A vector holds at most `transfer.vector_limit` parts. Where a selection names a byte of memory again, a new vector begins, so
/// that the later element wins.
pub fn read_selection<D: Driver + ?Sized>(
    driver: &D,
    pairs: &[SelectionPair<'_>],
    bufs: &mut [&mut [u8]],
    transfer: &Transfer,
) -> Result<()> {
    let refuse = |why| refused(driver, Operation::ReadSelection, pairs, why);
    let sizes: Vec<usize> = bufs.iter().map(|buf| buf.len()).collect();
    let batches = || Ok(Batches::new(Segments::new(pairs, &sizes)?, transfer.vector_limit, true));
    let transfer = with_rounds(transfer, || batches().map(Iterator::count)).map_err(refuse)?;
    for batch in batches().map_err(refuse)? {
        driver.read_vector(&mut carve::parts(&batch, bufs, transfer.kind), &transfer)?;
    }
    Ok(())
}

/// Writes selections with [`Driver::write_vector`]; at most `transfer.vector_limit` parts in a vector.
pub fn write_selection<D: Driver + ?Sized>(
    driver: &D,
    pairs: &[SelectionPair<'_>],
    bufs: &[&[u8]],
    transfer: &Transfer,
) -> Result<()> {
    let refuse = |why| refused(driver, Operation::WriteSelection, pairs, why);
    let sizes: Vec<usize> = bufs.iter().map(|buf| buf.len()).collect();
    let batches = || Ok(Batches::new(Segments::new(pairs, &sizes)?, transfer.vector_limit, false));
    let transfer = with_rounds(transfer, || batches().map(Iterator::count)).map_err(refuse)?;
    for batch in batches().map_err(refuse)? {
        let parts: Vec<_> = batch
            .iter()
            .filter_map(|segment| {
                let buf = bufs.get(segment.buffer)?.get(segment.start..segment.end())?;
                Some(WritePart { kind: transfer.kind, addr: segment.addr, buf })
            })
            .collect();
        driver.write_vector(&parts, &transfer)?;
    }
    Ok(())
}

/// A selection request that `driver` refuses; the range is that of all pairs together.
pub(crate) fn refused<D: Driver + ?Sized>(
    driver: &D,
    operation: Operation,
    pairs: &[SelectionPair<'_>],
    why: Why,
) -> Error {
    let addr = pairs.iter().map(|pair| pair.offset).min().unwrap_or(0);
    let bytes = pairs.iter().fold(0u64, |sum, pair| sum.saturating_add(pair.bytes()));
    Error::new(driver.name(), operation, addr, bytes, why)
}

/// A collective call must say beforehand into how many vectors it is cut.
fn with_rounds(transfer: &Transfer, count: impl FnOnce() -> Result<usize, Why>) -> Result<Transfer, Why> {
    let rounds = match transfer.mode {
        Mode::Collective => transfer.rounds.saturating_mul(count()?.max(1) as u64),
        Mode::Independent => transfer.rounds,
    };
    Ok(transfer.clone().with_rounds(rounds))
}

/// Segments in groups that can each be one vector.
struct Batches<'a> {
    segments: Segments<'a>,
    limit: usize,
    /// Whether a group may name no byte of memory twice.
    disjoint: bool,
    /// Segments taken but not yet given out: those from `given` on.
    window: Vec<Segment>,
    given: usize,
}

impl<'a> Batches<'a> {
    fn new(segments: Segments<'a>, limit: usize, disjoint: bool) -> Self {
        Batches { segments, limit: limit.max(1), disjoint, window: Vec::new(), given: 0 }
    }
}

impl Iterator for Batches<'_> {
    type Item = Vec<Segment>;

    fn next(&mut self) -> Option<Vec<Segment>> {
        if self.given == self.window.len() {
            self.window = self.segments.by_ref().take(self.limit).collect();
            self.given = 0;
        }
        let rest = self.window.get(self.given..)?;
        let count = if self.disjoint { carve::disjoint_prefix(rest) } else { rest.len() };
        let batch = rest.get(..count)?.to_vec();
        self.given += count;
        (!batch.is_empty()).then_some(batch)
    }
}
