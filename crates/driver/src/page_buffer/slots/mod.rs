//! The pages and what is known of each; everything that the lock guards.
//!
//! Lives here: state and its changes, without waiting and without storage: who holds which page (`hold`), bytes that come
//! (`bytes`) and go (`leave`), parts of requests that pages serve (`resident`). Does not live here: when to change it.

mod bytes;
mod hold;
mod leave;
mod resident;

use std::collections::BTreeMap;
use std::ops::Range;

use super::touched::Touched;
use crate::MemoryType;

pub(in crate::page_buffer) use leave::Leaving;

/// All pages.
#[derive(Debug)]
pub(in crate::page_buffer) struct Slots {
    page_size: usize,
    capacity: usize,
    slots: BTreeMap<u64, Slot>,
    /// When each page was last released, and which it is: the first goes first.
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    /// How many slots are of values.
    raw: usize,
    reserved: Reserved,
    /// How many slots are held by a request.
    held: usize,
    /// The pages of each request under way that writes straight down.
    direct: BTreeMap<u64, Touched>,
    /// The length as callers see it.
    len: u64,
    /// The length of the storage below.
    stored: u64,
}

/// How many pages of a kind do not leave for pages of the other one.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::page_buffer) struct Reserved {
    pub(in crate::page_buffer) metadata: usize,
    pub(in crate::page_buffer) raw: usize,
}

#[derive(Debug)]
struct Slot {
    content: Content,
    /// Whether a request for values brought it.
    raw: bool,
    /// How many requests need it to stay.
    holders: usize,
    used: u64,
    /// Bytes that the storage lacks.
    dirty: Option<Range<usize>>,
    /// Bytes that are on their way to the storage.
    leaving: Option<Range<usize>>,
}

impl Slot {
    fn new(kind: MemoryType) -> Slot {
        let raw = kind == MemoryType::RawData;
        Slot { content: Content::Absent, raw, holders: 0, used: 0, dirty: None, leaving: None }
    }
}

#[derive(Debug)]
enum Content {
    /// No request has begun to load it.
    Absent,
    Loading,
    Here(Vec<u8>),
}

impl Slots {
    pub(in crate::page_buffer) fn new(page_size: usize, capacity: usize, len: u64) -> Self {
        let (slots, by_use, direct) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (raw, reserved) = (0, Reserved::default());
        Slots { page_size, capacity, slots, by_use, clock: 0, raw, reserved, held: 0, direct, len, stored: len }
    }

    pub(in crate::page_buffer) fn reserve(&mut self, reserved: Reserved) {
        self.reserved = reserved;
    }

    pub(in crate::page_buffer) fn len(&self) -> u64 {
        self.len
    }

    pub(in crate::page_buffer) fn stored(&self) -> u64 {
        self.stored
    }

    pub(in crate::page_buffer) fn resident(&self) -> usize {
        self.slots.values().filter(|slot| matches!(slot.content, Content::Here(_))).count()
    }

    /// Whether a request has pages now.
    pub(in crate::page_buffer) fn is_held(&self) -> bool {
        self.held > 0
    }

    /// Forgets the pages that the storage has as they are. It has this length now.
    pub(in crate::page_buffer) fn forget_clean(&mut self, stored: u64) {
        let dirty = |slot: &Slot| slot.dirty.is_some() || slot.leaving.is_some();
        let clean: Vec<u64> = self.slots.iter().filter(|(_, slot)| !dirty(slot)).map(|(page, _)| *page).collect();
        clean.into_iter().for_each(|page| self.remove(page));
        if self.slots.is_empty() {
            (self.len, self.stored) = (stored, stored);
        }
    }

    /// Forgets those of these pages that the storage has as they are.
    pub(in crate::page_buffer) fn forget_clean_among(&mut self, touched: &Touched) {
        let clean = self.among(touched).filter(|(_, slot)| slot.dirty.is_none()).map(|(page, _)| page);
        clean.collect::<Vec<_>>().into_iter().for_each(|page| self.remove(page));
    }

    fn addr(&self, page: u64) -> u64 {
        page * self.page_size as u64
    }

    fn among(&self, touched: &Touched) -> impl Iterator<Item = (u64, &Slot)> {
        touched.ranges().flat_map(|range| self.slots.range(range)).map(|(page, slot)| (*page, slot))
    }

    fn remove(&mut self, page: u64) {
        if let Some(slot) = self.slots.remove(&page) {
            self.raw -= usize::from(slot.raw);
            self.by_use.remove(&slot.used);
        }
    }
}

/// Both ranges and what is between them.
fn union(old: Option<Range<usize>>, new: Range<usize>) -> Range<usize> {
    old.map_or(new.clone(), |old| old.start.min(new.start)..old.end.max(new.end))
}
