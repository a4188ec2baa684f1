//! How space is given out: the choices, and what all strategies share.

use hyperslab_base::ErrorKind;

use crate::{Rule, Sections, Span};

/// What space is for. Metadata and values are kept apart, so that metadata lies together, and nothing small of the one lies between the other.
/// libhdf5 counts on that: it reads metadata with what lies around it, and may write all of it again, values too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Headers, trees, heaps.
    Metadata,
    /// Values of datasets.
    Raw,
}

impl Kind {
    fn other(self) -> Kind {
        match self {
            Kind::Metadata => Kind::Raw,
            Kind::Raw => Kind::Metadata,
        }
    }
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

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Full { .. } => ErrorKind::NoSpace,
        }
    }
}

/// Pieces of this size may lie among the other kind.
const LARGE: u64 = 4096;

/// Free space and the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// The end of all that was given out.
    pub(crate) end: u64,
    /// By what it was used for.
    free: [Sections; 2],
}

impl Pool {
    pub(crate) fn new(end: u64) -> Pool {
        Pool { end, free: Default::default() }
    }

    fn of(&mut self, kind: Kind) -> &mut Sections {
        let [metadata, raw] = &mut self.free;
        match kind {
            Kind::Metadata => metadata,
            Kind::Raw => raw,
        }
    }

    pub(crate) fn add(&mut self, kind: Kind, span: Span) {
        self.of(kind).add(span);
    }

    /// Free space where it fits best; right before the end only if nothing else fits, because the file shrinks by what is free there.
    pub(crate) fn reuse(&mut self, kind: Kind, len: u64, rule: Rule) -> Option<Span> {
        let end = self.end;
        let own = self.of(kind).take_before(end, len, rule);
        own.or_else(|| if len >= LARGE { self.of(kind.other()).take_before(end, len, rule) } else { None })
    }

    /// The largest section of metadata that a piece of `least` to `most` bytes fills.
    pub(crate) fn fitting(&self, least: u64, most: u64, rule: Rule) -> Option<u64> {
        let [metadata, _] = &self.free;
        metadata.largest(least, most, rule)
    }

    /// Free space where it fits best, else behind the end.
    pub(crate) fn take(&mut self, kind: Kind, len: u64, rule: Rule) -> Result<Span, Error> {
        if let Some(span) = self.reuse(kind, len, rule) {
            return Ok(span);
        }
        // What is free right before the end is a start.
        let start = self.around(self.end.saturating_sub(1)).map_or(self.end, |last| last.start);
        let place = rule.place(start, len).ok_or(Error::Full { len })?;
        let end = place.checked_add(len).filter(|&end| end < u64::MAX).ok_or(Error::Full { len })?;
        self.take_last();
        self.add(kind, Span::between(start, place));
        self.end = end;
        Ok(Span { start: place, len })
    }

    fn around(&self, address: u64) -> Option<Span> {
        self.free.iter().find_map(|sections| sections.around(address))
    }

    /// Takes what is free right before the end.
    fn take_last(&mut self) -> Option<Span> {
        let end = self.end;
        self.free.iter_mut().find_map(|sections| sections.take_last(end))
    }

    /// Space behind the end; what alignment skips is free.
    pub(crate) fn append(&mut self, kind: Kind, len: u64, alignment: u64) -> Result<Span, Error> {
        let aligned = self.end.checked_next_multiple_of(alignment.max(1)).ok_or(Error::Full { len })?;
        let end = aligned.checked_add(len).filter(|&end| end < u64::MAX).ok_or(Error::Full { len })?;
        self.add(kind, Span::between(self.end, aligned));
        self.end = end;
        Ok(Span { start: aligned, len })
    }

    /// Whether the bytes right behind `span` are free or behind the end.
    pub(crate) fn can_extend(&self, span: Span, more: u64) -> bool {
        let there = self.around(span.end()).map_or(0, |section| section.len);
        let is_last = || span.end() + there == self.end;
        there >= more || is_last() && span.end().checked_add(more).is_some_and(|end| end < u64::MAX)
    }

    /// The bytes right behind `span`, if they are free or behind the end.
    pub(crate) fn extend(&mut self, span: Span, more: u64) -> bool {
        let (can, behind) = (self.can_extend(span, more), Span { start: span.end(), len: more });
        if can && more > 0 && !self.free.iter_mut().any(|sections| sections.take_at(behind)) {
            if span.end() < self.end {
                self.take_last();
            }
            self.end = behind.end();
        }
        can
    }

    /// Gives up what is free at the end of the file.
    pub(crate) fn shrink(&mut self) {
        while let Some(last) = self.take_last() {
            self.end = last.start;
        }
    }

    /// All that is free, and what it was used for.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (Span, Kind)> + '_ {
        let [metadata, raw] = &self.free;
        metadata.iter().map(|span| (span, Kind::Metadata)).chain(raw.iter().map(|span| (span, Kind::Raw)))
    }
}
