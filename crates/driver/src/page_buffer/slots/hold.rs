//! Which pages requests need to stay, and which a request writes straight down.

use super::{Content, Slot, Slots};
use crate::MemoryType;
use crate::page_buffer::touched::Touched;

impl Slots {
    /// Whether all these pages are here and no request writes them straight down; if so they count as just used.
    pub(in crate::page_buffer) fn use_if_here(&mut self, touched: &Touched) -> bool {
        let (newest, mut all_newest) = (self.clock, true);
        let here = |page| match self.slots.get(&page) {
            Some(Slot { content: Content::Here(_), used, .. }) => {
                all_newest &= *used == newest;
                true
            }
            _ => false,
        };
        let free = touched.pages().all(here) && !self.written_directly(touched);
        // Most requests for metadata are for the page of the one before.
        if free && !all_newest {
            touched.pages().for_each(|page| self.used(page));
        }
        free
    }

    /// These pages with up to so many behind them that the storage has and that are absent. Only for a range of pages of which the first that is absent follows one that is
    /// here.
    pub(in crate::page_buffer) fn follow(&self, touched: &Touched, more: u64) -> Option<Touched> {
        let range = touched.only_range()?;
        let first = range.clone().find(|page| !self.is_here(*page))?;
        let end = self.stored.div_ceil(self.page_size as u64);
        let behind = range.end..range.end.saturating_add(more).min(end);
        let absent = behind.take_while(|page| !self.slots.contains_key(page)).count() as u64;
        let follows = first.checked_sub(1).is_some_and(|before| self.is_here(before));
        (follows && absent > 0).then(|| touched.longer(absent))
    }

    /// Puts a page that no request holds behind all others in the row of those to go.
    pub(super) fn used(&mut self, page: u64) {
        if let Some(slot) = self.slots.get_mut(&page).filter(|slot| slot.holders == 0) {
            self.by_use.remove(&slot.used);
            self.clock += 1;
            slot.used = self.clock;
            self.by_use.insert(self.clock, page);
        }
    }

    /// Whether a request can hold these pages now: they fit beside those that others hold, unless it may have more than fit, and no request writes them
    /// straight down. Requests hold all their pages or none, so they never wait for each other's.
    pub(in crate::page_buffer) fn can_hold(&self, touched: &Touched, may_grow: bool) -> bool {
        if may_grow {
            return !self.written_directly(touched);
        }
        let shared = self.among(touched).filter(|(_, slot)| slot.holders > 0).count();
        let more = touched.count() - shared as u64;
        self.held as u64 + more <= self.capacity as u64 && !self.written_directly(touched)
    }

    pub(in crate::page_buffer) fn hold(&mut self, touched: &Touched, kind: MemoryType) {
        for page in touched.pages() {
            let slot = self.slots.entry(page).or_insert_with(|| {
                self.raw += usize::from(kind == MemoryType::RawData);
                Slot::new(kind)
            });
            self.held += usize::from(slot.holders == 0);
            slot.holders += 1;
            self.by_use.remove(&slot.used);
        }
    }

    pub(in crate::page_buffer) fn release(&mut self, touched: &Touched) {
        for page in touched.pages() {
            let Some(slot) = self.slots.get_mut(&page) else { continue };
            slot.holders = slot.holders.saturating_sub(1);
            if slot.holders > 0 {
                continue;
            }
            self.held -= 1;
            if matches!(slot.content, Content::Here(_)) {
                self.used(page);
            } else {
                self.remove(page);
            }
        }
    }

    /// Whether a request could write these pages straight down: no request holds, writes or writes back any of them.
    pub(in crate::page_buffer) fn is_free(&self, touched: &Touched) -> bool {
        self.among(touched).all(|(_, slot)| slot.holders == 0 && slot.leaving.is_none())
            && !self.written_directly(touched)
    }

    /// Whether all requests that write straight down end before `len`, and no other request has pages `behind` that. Requests for everything have no end.
    pub(in crate::page_buffer) fn all_end_before(&self, len: u64, behind: &Touched) -> bool {
        self.among(behind).all(|(_, slot)| slot.holders == 0 && slot.leaving.is_none())
            && self.direct.values().all(|other| !other.overlaps(behind) || (1..=len).contains(&other.end()))
    }

    pub(in crate::page_buffer) fn written_directly(&self, touched: &Touched) -> bool {
        self.direct.values().any(|other| other.overlaps(touched))
    }

    /// Keeps others from these pages until [`Slots::end_direct`] with the number that this gives.
    pub(in crate::page_buffer) fn begin_direct(&mut self, touched: &Touched) -> u64 {
        self.clock += 1;
        self.direct.insert(self.clock, touched.clone());
        self.clock
    }

    pub(in crate::page_buffer) fn end_direct(&mut self, number: u64) {
        self.direct.remove(&number);
    }
}
