//! How space is given out: the choices, and what all strategies share.

use crate::{Sections, Span};

/// What space is for. Metadata and values are kept apart, so that metadata lies together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Headers, trees, heaps.
    Metadata,
    /// Values of datasets.
    Raw,
}

/// How space is given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Where it fits best; small pieces of one kind share blocks at the end of the file.
    Fit {
        /// The size of a block that small pieces share; 0 for none.
        block: u64,
        /// Pieces of at least this size are aligned.
        threshold: u64,
        /// To multiples of this.
        alignment: u64,
    },
    /// In pages: nothing smaller than a page crosses the border of one, and a page holds one kind.
    Paged {
        /// The size of a page.
        page: u64,
    },
}

impl Default for Strategy {
    fn default() -> Strategy {
        Strategy::Fit { block: 2048, threshold: 1, alignment: 1 }
    }
}

/// Why space cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Addresses have an end.
    #[error("{len} bytes more would put the end of the file behind the last address")]
    Full {
        /// How many were wanted.
        len: u64,
    },
}

/// Free space and the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// The end of all that was given out.
    pub(crate) end: u64,
    pub(crate) free: Sections,
}

impl Pool {
    /// Free space where it fits best, else behind the end.
    pub(crate) fn take(&mut self, len: u64, alignment: u64) -> Result<Span, Error> {
        if let Some(span) = self.free.take(len, alignment) {
            return Ok(span);
        }
        // What is free right before the end is a start.
        let start = self.free.around(self.end.saturating_sub(1)).map_or(self.end, |last| last.start);
        let aligned = start.checked_next_multiple_of(alignment.max(1)).ok_or(Error::Full { len })?;
        let end = aligned.checked_add(len).filter(|&end| end < u64::MAX).ok_or(Error::Full { len })?;
        self.free.take_last(self.end);
        self.free.add(Span::between(start, aligned));
        self.end = end;
        Ok(Span { start: aligned, len })
    }

    /// Space behind the end; what alignment skips is free.
    pub(crate) fn append(&mut self, len: u64, alignment: u64) -> Result<Span, Error> {
        let aligned = self.end.checked_next_multiple_of(alignment.max(1)).ok_or(Error::Full { len })?;
        let end = aligned.checked_add(len).filter(|&end| end < u64::MAX).ok_or(Error::Full { len })?;
        self.free.add(Span::between(self.end, aligned));
        self.end = end;
        Ok(Span { start: aligned, len })
    }

    /// The bytes right behind `span`, if they are free or behind the end.
    pub(crate) fn extend(&mut self, span: Span, more: u64) -> bool {
        let behind = Span { start: span.end(), len: more };
        if self.free.take_at(behind) {
            return true;
        }
        let there = self.free.around(span.end()).map_or(0, |section| section.len);
        if span.end() + there != self.end {
            return false;
        }
        let Some(end) = span.end().checked_add(more).filter(|&end| end < u64::MAX) else { return false };
        self.free.take_last(self.end);
        self.end = end;
        true
    }

    /// Gives up what is free at the end of the file.
    pub(crate) fn shrink(&mut self) {
        if let Some(last) = self.free.take_last(self.end) {
            self.end = last.start;
        }
    }
}
