//! Bytes that go back to the storage, and pages that go for good.

use std::ops::Range;

use super::{Content, Slot, Slots, union};
use crate::page_buffer::touched::Touched;

/// Bytes on their way to the storage.
pub(in crate::page_buffer) struct Leaving {
    page: u64,
    range: Range<usize>,
    pub(in crate::page_buffer) addr: u64,
    pub(in crate::page_buffer) bytes: Vec<u8>,
}

impl Slots {
    /// The dirty bytes of these pages, from now on on their way.
    pub(in crate::page_buffer) fn begin_leaving(&mut self, touched: &Touched) -> Vec<Leaving> {
        let dirty = self.among(touched).filter(|(_, slot)| slot.dirty.is_some()).map(|(page, _)| page);
        let pages: Vec<u64> = dirty.collect();
        pages.into_iter().filter_map(|page| self.leave(page)).collect()
    }

    pub(in crate::page_buffer) fn is_leaving(&self, touched: &Touched) -> bool {
        self.among(touched).any(|(_, slot)| slot.leaving.is_some())
    }

    /// A page whose older bytes are still on their way must wait, or the older might arrive last.
    fn leave(&mut self, page: u64) -> Option<Leaving> {
        let addr = self.addr(page);
        let slot = self.slots.get_mut(&page).filter(|slot| slot.leaving.is_none())?;
        let Content::Here(here) = &slot.content else { return None };
        let range = slot.dirty.take()?;
        let bytes = here.get(range.clone()).unwrap_or_default().to_vec();
        slot.leaving = Some(range.clone());
        Some(Leaving { page, addr: addr + range.start as u64, range, bytes })
    }

    /// What was on its way has arrived, or is still dirty.
    pub(in crate::page_buffer) fn end_leaving(&mut self, leaving: &[Leaving], arrived: bool) {
        for Leaving { page, range, addr, bytes } in leaving {
            if arrived {
                self.stored = self.stored.max(addr + bytes.len() as u64);
            }
            let Some(slot) = self.slots.get_mut(page) else { continue };
            slot.leaving = None;
            if !arrived {
                slot.dirty = Some(union(slot.dirty.take(), range.clone()));
            }
        }
    }

    /// Drops pages that no request holds, least recently used first, until there are no more than there may be. Gives the dirty ones
    /// among them, which must be written back first.
    pub(in crate::page_buffer) fn shrink(&mut self) -> Vec<Leaving> {
        let mut dirty = Vec::new();
        for page in self.idle(self.over(), |_| true) {
            match self.leave(page) {
                Some(leaving) => dirty.push(leaving),
                None => self.remove(page),
            }
        }
        dirty
    }

    /// As [`Slots::shrink`], but only pages that are clean. Whether there are now no more than there may be.
    pub(in crate::page_buffer) fn shrink_clean(&mut self) -> bool {
        self.idle(self.over(), |slot| slot.dirty.is_none()).into_iter().for_each(|page| self.remove(page));
        self.over() == 0
    }

    /// How many pages are too many.
    fn over(&self) -> usize {
        self.slots.len().saturating_sub(self.capacity)
    }

    /// Up to so many pages that no request uses, least recently used first; those that are reserved for their kind only if others do not suffice.
    fn idle(&self, most: usize, wanted: impl Fn(&Slot) -> bool) -> Vec<u64> {
        let (mut idle, mut last) = (Vec::new(), Vec::new());
        if most == 0 {
            return idle;
        }
        let mut raw = self.raw.saturating_sub(self.reserved.raw);
        let mut metadata = (self.slots.len() - self.raw).saturating_sub(self.reserved.metadata);
        for &page in self.by_use.values() {
            let Some(slot) = self.slots.get(&page).filter(|slot| slot.leaving.is_none() && wanted(slot)) else {
                continue;
            };
            if self.direct.values().any(|touched| touched.contains(page)) {
                continue;
            }
            let spare = if slot.raw { &mut raw } else { &mut metadata };
            if *spare == 0 {
                last.push(page);
                continue;
            }
            *spare -= 1;
            idle.push(page);
            if idle.len() == most {
                return idle;
            }
        }
        last.truncate(most - idle.len());
        idle.extend(last);
        idle
    }
}
