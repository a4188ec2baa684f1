//! The allocator of one file.

use crate::{Error, Kind, Rule, Span, Strategy, pages::Pages, pool::Pool};

/// File space of one file. What it gives out is the caller's until it is freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocator {
    strategy: Strategy,
    /// How many bytes of the storage lie before address 0.
    base: u64,
    pool: Pool,
    /// Unused parts of the blocks that small pieces share: metadata, values.
    shared: [Span; 2],
    pages: Pages,
    /// Freed, but perhaps still named by what the file holds.
    pending: Vec<(Span, Kind)>,
    /// Where the addresses of values begin, and their space, if they have addresses of their own.
    apart: Option<(u64, Box<Allocator>)>,
}

const NOTHING: Span = Span { start: 0, len: 0 };

impl Allocator {
    /// The space of a file that ends at `end`.
    pub fn new(end: u64, strategy: Strategy) -> Allocator {
        let mut pool = Pool::new(end);
        let page = if let Strategy::Paged { page } = strategy { page.max(1) } else { 1 };
        let pages = Pages::new(&mut pool, page);
        Allocator { strategy, base: 0, pool, shared: [NOTHING; 2], pages, pending: Vec::new(), apart: None }
    }

    /// The same, of a file that begins so many bytes behind the front of its storage.
    #[must_use]
    pub fn with_base(self, base: u64) -> Allocator {
        Allocator { base, ..self }
    }

    /// The same, of a file whose values have addresses of their own, from `start` on; they end at `end`.
    ///
    /// ```
    /// use hyperslab_alloc::{Allocator, Kind, Strategy};
    /// let mut space = Allocator::new(96, Strategy::default()).with_values_apart(1 << 40, 1 << 40);
    /// assert_eq!(space.allocate(Kind::Raw, 1000)?.start, 1 << 40);
    /// assert_eq!(space.allocate(Kind::Metadata, 100)?.start, 96);
    /// # Ok::<(), hyperslab_alloc::Error>(())
    /// ```
    #[must_use]
    pub fn with_values_apart(self, start: u64, end: u64) -> Allocator {
        let values = Box::new(Allocator::new(end.max(start), self.strategy));
        Allocator { apart: Some((start, values)), ..self }
    }

    /// The space that an address is in, if it is that of values alone.
    fn apart_at(&mut self, address: u64) -> Option<&mut Allocator> {
        self.apart.as_mut().filter(|(start, _)| *start <= address).map(|(_, values)| &mut **values)
    }

    /// The end of values, if they have addresses of their own.
    pub fn values_end(&self) -> Option<u64> {
        self.apart.as_ref().map(|(_, values)| values.end())
    }

    /// The highest address behind all that was given out.
    pub fn last_end(&self) -> u64 {
        self.values_end().unwrap_or(0).max(self.end())
    }

    /// How many bytes the file has.
    pub fn size(&self) -> u64 {
        self.end().saturating_add(self.apart.as_ref().map_or(0, |(start, values)| values.end().saturating_sub(*start)))
    }

    /// Where pieces of a kind may begin: metadata keeps to the borders of [pages](crate::PAGE) of the storage, so that a block of it is written
    /// as a whole or not at all.
    fn rule(&self, kind: Kind, alignment: u64) -> Rule {
        Rule { alignment, base: (kind == Kind::Metadata).then_some(self.base) }
    }

    /// The end of all that was given out; of metadata, if values have addresses of their own.
    pub fn end(&self) -> u64 {
        self.pool.end
    }

    /// Space of `len` bytes.
    pub fn allocate(&mut self, kind: Kind, len: u64) -> Result<Span, Error> {
        if let Some((_, values)) = self.apart.as_mut().filter(|_| kind == Kind::Raw) {
            return values.allocate(kind, len);
        }
        match self.strategy {
            Strategy::Paged { .. } => {
                let rule = self.rule(kind, 1);
                self.pages.take(&mut self.pool, kind, len, rule)
            }
            Strategy::Fit { block, threshold, alignment } => {
                let alignment = if len >= threshold { alignment.max(1) } else { 1 };
                let rule = self.rule(kind, alignment);
                if let Some(span) = self.pool.reuse(kind, len, rule) {
                    return Ok(span);
                }
                if len >= block || alignment > 1 {
                    return self.pool.take(kind, len, rule);
                }
                self.take_shared(kind, len, block)
            }
        }
    }

    /// A small piece from the block of its kind, which grows in place if it is the last of the file. What is left out before the border of a
    /// page is for smaller pieces.
    fn take_shared(&mut self, kind: Kind, len: u64, block: u64) -> Result<Span, Error> {
        let (rule, mut grown) = (self.rule(kind, 1), false);
        let mut rest = self.shared.get(kind as usize).copied().unwrap_or(NOTHING);
        let start = loop {
            let place = rule.place(rest.start, len).ok_or(Error::Full { len })?;
            if place.saturating_add(len) <= rest.end() {
                break place;
            }
            if !rest.is_empty() && self.pool.extend(rest, block) {
                rest.len += block;
            } else {
                self.pool.add(kind, rest);
                // A block that crosses a border itself may be too small once, not twice.
                rest = self.pool.take(kind, if grown { block.saturating_add(len) } else { block }, rule)?;
                grown = true;
            }
        };
        self.pool.add(kind, Span::between(rest.start, start));
        let taken = Span { start, len };
        if let Some(shared) = self.shared.get_mut(kind as usize) {
            *shared = Span::between(taken.end(), rest.end());
        }
        Ok(taken)
    }

    /// Space for metadata at the very end, whatever is free before it.
    pub fn append(&mut self, len: u64) -> Result<Span, Error> {
        match self.strategy {
            Strategy::Paged { page } => {
                let whole = len.checked_next_multiple_of(page.max(1)).ok_or(Error::Full { len })?;
                Ok(Span { start: self.pool.append(Kind::Metadata, whole, page)?.start, len })
            }
            Strategy::Fit { .. } => self.pool.append(Kind::Metadata, len, 1),
        }
    }

    /// Adds what was free when the file was closed, and what it was used for.
    pub fn restore(&mut self, span: Span, kind: Kind) {
        if let Some(values) = self.apart_at(span.start) {
            return values.restore(span, kind);
        }
        match self.strategy {
            Strategy::Paged { .. } => self.pages.restore(&mut self.pool, span, kind),
            Strategy::Fit { .. } => self.pool.add(kind, span),
        }
    }

    /// How many bytes, from `least` to `most`, the free section has that metadata of such a size fills best, if there is one.
    pub fn fitting(&self, least: u64, most: u64) -> Option<u64> {
        match self.strategy {
            Strategy::Paged { .. } => None,
            Strategy::Fit { .. } => self.pool.fitting(least, most, self.rule(Kind::Metadata, 1)),
        }
    }

    /// Whether a piece of metadata can be longer where it is: what lies behind it is free, and no border is in the way.
    pub fn can_extend(&self, span: Span, more: u64) -> bool {
        if let Some((_, values)) = self.apart.as_ref().filter(|(start, _)| *start <= span.start) {
            return values.can_extend(span, more);
        }
        if !self.rule(Kind::Metadata, 1).allows(span.start, span.len.saturating_add(more)) {
            return false;
        }
        if let Strategy::Paged { .. } = self.strategy {
            return self.pages.may_extend(span, more);
        }
        match self.shared.iter().find(|shared| !shared.is_empty() && shared.start == span.end()) {
            Some(shared) => more <= shared.len || self.pool.can_extend(*shared, more - shared.len),
            None => self.pool.can_extend(span, more),
        }
    }

    /// Makes a piece of metadata longer in place, if it [can be](Self::can_extend).
    pub fn extend(&mut self, span: Span, more: u64) -> bool {
        if let Some(values) = self.apart_at(span.start) {
            return values.extend(span, more);
        }
        let can = self.can_extend(span, more);
        if !can || matches!(self.strategy, Strategy::Paged { .. }) {
            return can;
        }
        match self.shared.iter_mut().find(|shared| !shared.is_empty() && shared.start == span.end()) {
            Some(shared) if more < shared.len => *shared = Span::between(shared.start + more, shared.end()),
            Some(shared) => {
                let rest = std::mem::replace(shared, NOTHING);
                return more == rest.len || self.pool.extend(rest, more - rest.len);
            }
            None => return self.pool.extend(span, more),
        }
        can
    }

    /// Gives space back that the file may still name: it is given out again after [`Allocator::publish`].
    pub fn free(&mut self, kind: Kind, span: Span) {
        if !span.is_empty() {
            self.pending.push((span, kind));
        }
    }

    /// Gives space back that the file never named: it may be given out at once.
    pub fn discard(&mut self, kind: Kind, span: Span) {
        if let Some(values) = self.apart_at(span.start) {
            return values.discard(kind, span);
        }
        match self.strategy {
            Strategy::Paged { .. } => self.pages.give(&mut self.pool, span),
            Strategy::Fit { .. } => self.pool.add(kind, span),
        }
    }

    /// The file no longer names anything that was freed so far.
    pub fn publish(&mut self) {
        for (span, kind) in std::mem::take(&mut self.pending) {
            self.discard(kind, span);
        }
    }

    /// Gives up unused space at the end of the file.
    pub fn shrink(&mut self) {
        self.apart.iter_mut().for_each(|(_, values)| values.shrink());
        self.pool.shrink();
    }

    /// Gives up all unused space at the end of the file, and the rests of shared blocks; says where the file ends now.
    pub fn trim(&mut self) -> u64 {
        if let Some((_, values)) = &mut self.apart {
            values.trim();
        }
        let rests = std::mem::replace(&mut self.shared, [NOTHING; 2]);
        for (rest, kind) in rests.into_iter().zip([Kind::Metadata, Kind::Raw]) {
            self.pool.add(kind, rest);
        }
        self.pool.shrink();
        self.pool.end
    }

    /// All that is free now, in the order of addresses.
    pub fn sections(&self) -> Vec<Span> {
        self.free_parts().into_iter().map(|(span, _)| span).collect()
    }

    /// The same with what each is for; whole pages are for anything.
    pub fn free_parts(&self) -> Vec<(Span, Option<Kind>)> {
        let paged = matches!(self.strategy, Strategy::Paged { .. });
        let rests = self.shared.iter().copied().zip([Kind::Metadata, Kind::Raw]).filter(|(rest, _)| !rest.is_empty());
        let pool = self.pool.sections().chain(rests).map(|(span, kind)| (span, (!paged).then_some(kind)));
        let mut all: Vec<_> = pool.chain(self.pages.parts_of()).collect();
        all.extend(self.apart.iter().flat_map(|(_, values)| values.free_parts()));
        all.sort_unstable_by_key(|(span, _)| *span);
        all
    }

    /// Space freed whose release waits.
    pub fn pending(&self) -> impl Iterator<Item = Span> + '_ {
        self.pending.iter().map(|(span, _)| *span)
    }
}
