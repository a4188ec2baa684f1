//! Space in pages.
//!
//! A page holds pieces of one kind, none of which crosses its borders. Whatever is a page or more has its pages for itself. A page that is all
//! free may serve the other kind.

use std::collections::{HashMap, HashSet};

use crate::{Error, Kind, Rule, Sections, Span, pool::Pool};

/// Whole pages are for anything; the pool has them all in one place.
const ANY: Kind = Kind::Metadata;

/// The parts of pages that are free. Whole free pages are the pool's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pages {
    page: u64,
    metadata: Sections,
    raw: Sections,
    /// What the pages hold that were cut into pieces.
    kinds: HashMap<u64, Kind>,
    /// Where something large begins that was given out here, and so has its last page for itself. Of what was there before it is unknown:
    /// libhdf5 gives the rest of such a page to others.
    whole: HashSet<u64>,
}

impl Pages {
    /// Pages behind what the pool holds already; metadata may use the rest of its last page.
    pub(crate) fn new(pool: &mut Pool, page: u64) -> Pages {
        let cut = Sections::cut_at(page);
        let mut pages = Pages { page, metadata: cut.clone(), raw: cut, kinds: HashMap::new(), whole: HashSet::new() };
        let end = pool.end.checked_next_multiple_of(page).unwrap_or(pool.end);
        if end > pool.end {
            pages.kinds.insert(end - page, Kind::Metadata);
            pages.metadata.add(Span::between(pool.end, end));
            pool.end = end;
        }
        pages
    }

    fn parts(&mut self, kind: Kind) -> &mut Sections {
        match kind {
            Kind::Metadata => &mut self.metadata,
            Kind::Raw => &mut self.raw,
        }
    }

    pub(crate) fn take(&mut self, pool: &mut Pool, kind: Kind, len: u64, rule: Rule) -> Result<Span, Error> {
        let page = self.page;
        let whole_page = Rule { alignment: page, ..rule };
        if len >= page {
            let whole = len.checked_next_multiple_of(page).ok_or(Error::Full { len })?;
            let start = pool.take(ANY, whole, whole_page)?.start;
            self.whole.insert(start);
            return Ok(Span { start, len });
        }
        if let Some(span) = self.parts(kind).take(len, rule) {
            return Ok(span);
        }
        let fresh = pool.take(ANY, page, whole_page)?;
        self.kinds.insert(fresh.start, kind);
        let place = rule.place(fresh.start, len).filter(|place| place.saturating_add(len) <= fresh.end());
        let taken = Span { start: place.unwrap_or(fresh.start), len };
        self.parts(kind).add(Span::between(fresh.start, taken.start));
        self.parts(kind).add(Span::between(taken.end(), fresh.end()));
        Ok(taken)
    }

    /// Adds free space of a file that was closed: whole pages, and parts of a page that holds one kind.
    pub(crate) fn restore(&mut self, pool: &mut Pool, span: Span, kind: Kind) {
        if span.len < self.page {
            self.kinds.insert(span.start - span.start % self.page, kind);
        }
        self.give(pool, span);
    }

    pub(crate) fn give(&mut self, pool: &mut Pool, span: Span) {
        let page = self.page;
        if span.len >= page {
            if self.whole.remove(&span.start) {
                let len = span.len.checked_next_multiple_of(page).unwrap_or(span.len);
                return pool.add(ANY, Span { start: span.start, len });
            }
            let start = span.start.checked_next_multiple_of(page).unwrap_or(span.end());
            return pool.add(ANY, Span::between(start, span.end() - span.end() % page));
        }
        let page_start = span.start - span.start % page;
        let kind = self.kinds.get(&page_start).copied().unwrap_or(Kind::Metadata);
        let parts = self.parts(kind);
        parts.add(span);
        let whole = Span { start: page_start, len: page };
        if parts.around(page_start) == Some(whole) && parts.take_at(whole) {
            self.kinds.remove(&page_start);
            pool.add(ANY, whole);
        }
    }

    /// Whether something has room behind it: only what has its last page for itself.
    pub(crate) fn may_extend(&self, span: Span, more: u64) -> bool {
        self.whole.contains(&span.start)
            && span.len.saturating_add(more).div_ceil(self.page) == span.len.div_ceil(self.page)
    }

    /// Parts of pages, and what they are for.
    pub(crate) fn parts_of(&self) -> impl Iterator<Item = (Span, Option<Kind>)> + '_ {
        let of = |sections: &'_ Sections, kind| sections.iter().map(move |span| (span, Some(kind))).collect::<Vec<_>>();
        of(&self.metadata, Kind::Metadata).into_iter().chain(of(&self.raw, Kind::Raw))
    }
}
