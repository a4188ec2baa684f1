//! File space, and what of it nothing in the file names yet.

use std::collections::BTreeMap;

use hyperslab_alloc::{Allocator, Kind, Span};

use crate::Durability;

/// A file is flushed when more than this part of it waits for that to be free.
const SHARE: u64 = 32;
/// The same where a flush takes long, since it is durable.
const FEWER: u64 = 4;
/// So many bytes may always wait.
const LITTLE: u64 = 2048;

/// File space, and what of it was given out since the last flush, so that nothing in the file names it yet.
pub(crate) struct Space {
    pub(crate) allocator: Allocator,
    /// Ranges that do not touch each other: few, since space is mostly given out in a row.
    pub(crate) fresh: BTreeMap<u64, u64>,
    /// What was given out since a part of an operation began that may fail.
    attempt: Option<Vec<(Kind, Span)>>,
    /// Whether what is freed now belongs to an object that is deleted.
    pub(crate) deletes: bool,
    /// Values of objects that were deleted since the last flush: the file still names them, and they may be spoiled.
    pub(crate) deleted: Vec<Span>,
    /// How many bytes were freed that others get after the next flush, also inside of blocks.
    pub(crate) awaited: u64,
    /// Whether a full storage got back all that the file does not need.
    pub(crate) returned: bool,
    /// Whether free space that the file still names is being listed in it: none of that may be given back to a full storage.
    pub(crate) lists_free: bool,
}

impl Space {
    pub(super) fn new(allocator: Allocator) -> Space {
        let (fresh, attempt, deletes, deleted, awaited, returned, lists_free) = Default::default();
        Space { allocator, fresh, attempt, deletes, deleted, awaited, returned, lists_free }
    }

    /// Values have addresses from `start` on, and end at `end`.
    pub(super) fn keep_values_apart(&mut self, start: u64, end: u64) {
        self.allocator = self.allocator.clone().with_values_apart(start, end);
    }

    /// Space for `length` bytes, which ends at `most` at the latest.
    pub(crate) fn allocate(&mut self, kind: Kind, length: u64, most: u64) -> Result<Span, hyperslab_alloc::Error> {
        let span = self.allocator.allocate(kind, length)?;
        if span.end() > most {
            self.allocator.discard(kind, span);
            return Err(hyperslab_alloc::Error::Full { len: length });
        }
        self.add_fresh(span);
        self.attempt.iter_mut().for_each(|attempt| attempt.push((kind, span)));
        Ok(span)
    }

    /// From now on it is known what is given out.
    pub(crate) fn begin_attempt(&mut self) {
        debug_assert!(self.attempt.is_none(), "attempts are not nested");
        self.attempt = Some(Vec::new());
    }

    /// Says what was given out since [`Space::begin_attempt`], and gives it back if that `failed`.
    pub(crate) fn end_attempt(&mut self, failed: bool) -> Vec<(Kind, Span)> {
        let taken = self.attempt.take().unwrap_or_default();
        if failed {
            self.untake(&taken);
        }
        taken
    }

    /// Gives back what was given out and is not named in the file.
    pub(crate) fn untake(&mut self, taken: &[(Kind, Span)]) {
        let returned = self.returned;
        taken.iter().rev().for_each(|&(kind, span)| self.release(kind, span));
        self.allocator.shrink();
        // What was free before is as it was.
        self.returned = returned;
    }

    /// Notes that nothing in the file names this range.
    pub(crate) fn add_fresh(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        let mut whole = span;
        while let Some((&start, len)) = self.fresh.range_mut(..=whole.end()).next_back()
            && start + *len >= whole.start
        {
            if start <= whole.start {
                // As a rule the range before grows, and nothing is behind.
                *len = (*len).max(whole.end() - start);
                return;
            }
            whole = Span::between(whole.start, whole.end().max(start + *len));
            self.fresh.remove(&start);
        }
        self.fresh.insert(whole.start, whole.len);
    }

    /// Gives space back: at once if it was never published, else after the next flush. Whether it was fresh.
    pub(crate) fn free(&mut self, kind: Kind, span: Span) -> bool {
        self.returned = false;
        let around = self.fresh.range(..=span.start).next_back().map(|(&start, &len)| Span { start, len });
        match around.filter(|around| around.end() >= span.end()) {
            Some(around) => {
                self.fresh.remove(&around.start);
                for rest in [Span::between(around.start, span.start), Span::between(span.end(), around.end())] {
                    if !rest.is_empty() {
                        self.fresh.insert(rest.start, rest.len);
                    }
                }
                self.allocator.discard(kind, span);
                true
            }
            None => {
                self.allocator.free(kind, span);
                self.awaited = self.awaited.saturating_add(span.len);
                if self.deletes && kind == Kind::Raw {
                    self.deleted.push(span);
                }
                false
            }
        }
    }

    /// Gives space back that nothing in the file names any more.
    pub(crate) fn release(&mut self, kind: Kind, span: Span) {
        if !self.is_fresh(span.start) {
            self.add_fresh(span);
        }
        self.free(kind, span);
    }

    /// Whether so much space waits for the next flush that the file grows by it, if so many bytes `more` do.
    pub(crate) fn awaits_much(&self, more: u64, durability: Durability) -> bool {
        let share = if durability == Durability::Full { FEWER } else { SHARE };
        self.awaited.saturating_add(more) > (self.allocator.size() / share).max(LITTLE)
    }

    /// The file was flushed: what was freed is others' now.
    pub(crate) fn publish(&mut self) {
        self.returned &= self.allocator.pending().next().is_none();
        self.allocator.publish();
        self.deleted.clear();
        self.awaited = 0;
        self.lists_free = false;
    }

    /// Whether nothing in the file names this address yet.
    pub(crate) fn is_fresh(&self, address: u64) -> bool {
        // As a rule all that is fresh lies behind all that is not.
        match self.fresh.last_key_value() {
            Some((start, len)) if *start <= address => address - start < *len,
            _ => self.fresh.range(..=address).next_back().is_some_and(|(start, len)| address - start < *len),
        }
    }
}
