//! The pages and what is known of each; everything that the lock guards.
//!
//! Lives here: state and its changes, without waiting and without storage. Does not live here: when to change it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::touched::Touched;

/// All pages.
#[derive(Debug)]
pub(super) struct Slots {
    page_size: usize,
    capacity: usize,
    slots: BTreeMap<u64, Slot>,
    /// When each page was last released, and which it is: the first goes first.
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    /// How many slots are held by a request.
    held: usize,
    /// The pages of each request under way that writes straight down.
    direct: BTreeMap<u64, Touched>,
    /// The length as callers see it.
    len: u64,
    /// The length of the storage below.
    stored: u64,
}

#[derive(Debug, Default)]
struct Slot {
    content: Content,
    /// How many requests need it to stay.
    holders: usize,
    used: u64,
    /// Bytes that the storage lacks.
    dirty: Option<Range<usize>>,
    /// Bytes that are on their way to the storage.
    leaving: Option<Range<usize>>,
}

#[derive(Debug, Default)]
enum Content {
    /// Nobody has begun to load it.
    #[default]
    Absent,
    Loading,
    Here(Vec<u8>),
}

/// Bytes on their way to the storage.
pub(super) struct Leaving {
    page: u64,
    range: Range<usize>,
    pub(super) addr: u64,
    pub(super) bytes: Vec<u8>,
}

impl Slots {
    pub(super) fn new(page_size: usize, capacity: usize, len: u64) -> Self {
        let (slots, by_use, direct) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Slots { page_size, capacity, slots, by_use, clock: 0, held: 0, direct, len, stored: len }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    pub(super) fn resident(&self) -> usize {
        self.slots.values().filter(|slot| matches!(slot.content, Content::Here(_))).count()
    }

    fn addr(&self, page: u64) -> u64 {
        page * self.page_size as u64
    }

    fn among(&self, touched: &Touched) -> impl Iterator<Item = (u64, &Slot)> {
        touched.ranges().flat_map(|range| self.slots.range(range)).map(|(page, slot)| (*page, slot))
    }

    // Holding.

    /// Whether a request can hold these pages now: they fit beside those that others hold, and nobody writes them straight
    /// down. Requests hold all their pages or none, so they never wait for each other's.
    pub(super) fn can_hold(&self, touched: &Touched) -> bool {
        let shared = self.among(touched).filter(|(_, slot)| slot.holders > 0).count();
        let more = touched.count() - shared as u64;
        self.held as u64 + more <= self.capacity as u64 && !self.written_directly(touched)
    }

    pub(super) fn hold(&mut self, touched: &Touched) {
        for page in touched.pages() {
            let slot = self.slots.entry(page).or_default();
            self.held += usize::from(slot.holders == 0);
            slot.holders += 1;
            self.by_use.remove(&slot.used);
        }
    }

    pub(super) fn release(&mut self, touched: &Touched) {
        for page in touched.pages() {
            let Some(slot) = self.slots.get_mut(&page) else { continue };
            slot.holders = slot.holders.saturating_sub(1);
            if slot.holders > 0 {
                continue;
            }
            self.held -= 1;
            if matches!(slot.content, Content::Here(_)) {
                self.clock += 1;
                slot.used = self.clock;
                self.by_use.insert(self.clock, page);
            } else {
                self.slots.remove(&page);
            }
        }
    }

    /// Whether a request could write these pages straight down: nobody holds, writes or writes back any of them.
    pub(super) fn is_free(&self, touched: &Touched) -> bool {
        self.among(touched).all(|(_, slot)| slot.holders == 0 && slot.leaving.is_none())
            && !self.written_directly(touched)
    }

    pub(super) fn written_directly(&self, touched: &Touched) -> bool {
        self.direct.values().any(|other| other.overlaps(touched))
    }

    /// Keeps others from these pages until [`Slots::end_direct`] with the number that this gives.
    pub(super) fn begin_direct(&mut self, touched: &Touched) -> u64 {
        self.clock += 1;
        self.direct.insert(self.clock, touched.clone());
        self.clock
    }

    pub(super) fn end_direct(&mut self, number: u64) {
        self.direct.remove(&number);
    }

    // Loading.

    /// Which of these pages the caller must load: those that are absent, `needed`, and in the storage. From now on they count
    /// as loading; those beyond the storage are zeros at once.
    pub(super) fn begin_load(&mut self, touched: &Touched, needed: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut missing = Vec::new();
        for page in touched.pages().filter(|page| needed(*page)) {
            let beyond = self.addr(page) >= self.stored;
            let Some(slot) = self.slots.get_mut(&page) else { continue };
            if matches!(slot.content, Content::Absent) {
                slot.content = if beyond { Content::Here(vec![0; self.page_size]) } else { Content::Loading };
                if !beyond {
                    missing.push(page);
                }
            }
        }
        missing
    }

    /// What came of loading a page; without bytes it is absent again.
    pub(super) fn end_load(&mut self, page: u64, bytes: Option<Vec<u8>>) {
        if let Some(slot) = self.slots.get_mut(&page) {
            slot.content = bytes.map_or(Content::Absent, Content::Here);
        }
    }

    pub(super) fn is_loading(&self, touched: &Touched) -> bool {
        self.among(touched).any(|(_, slot)| matches!(slot.content, Content::Loading))
    }

    // Bytes.

    /// Copies from pages that are here.
    pub(super) fn read(&self, addr: u64, buf: &mut [u8]) {
        let mut rest = buf;
        for (page, range) in spans(self.page_size, addr, rest.len()) {
            let Some((now, later)) = std::mem::take(&mut rest).split_at_mut_checked(range.len()) else { return };
            rest = later;
            if let Some(Slot { content: Content::Here(bytes), .. }) = self.slots.get(&page) {
                now.copy_from_slice(bytes.get(range).unwrap_or_default());
            }
        }
    }

    /// Copies to pages that are here or absent and covered, which thereby are dirty.
    pub(super) fn write(&mut self, addr: u64, buf: &[u8]) {
        for (page, range, now) in slices(self.page_size, addr, buf) {
            let Some(slot) = self.slots.get_mut(&page) else { continue };
            if matches!(slot.content, Content::Absent) {
                slot.content = Content::Here(vec![0; self.page_size]);
            }
            slot.overwrite(range.clone(), now);
            slot.dirty = Some(union(slot.dirty.take(), range));
        }
        self.len = self.len.max(end(addr, buf));
    }

    /// The same bytes were written straight down: keeps the pages that are here true.
    pub(super) fn wrote_directly(&mut self, addr: u64, buf: &[u8]) {
        for (page, range, now) in slices(self.page_size, addr, buf) {
            if let Some(slot) = self.slots.get_mut(&page) {
                slot.overwrite(range, now);
            }
        }
        self.len = self.len.max(end(addr, buf));
        self.stored = self.stored.max(end(addr, buf));
    }

    /// Nobody knows what the storage has of these pages, and how long it is if it is longer.
    pub(super) fn forget(&mut self, touched: &Touched, stored: u64) {
        let pages: Vec<u64> = self.among(touched).map(|(page, _)| page).collect();
        pages.into_iter().for_each(|page| self.remove(page));
        self.stored = self.stored.max(stored);
        self.len = self.len.max(stored);
    }

    /// The storage below has this length now, and so has the buffer.
    pub(super) fn resized(&mut self, len: u64) {
        let first = len.div_ceil(self.page_size as u64);
        let beyond: Vec<u64> = self.slots.range(first..).map(|(page, _)| *page).collect();
        beyond.into_iter().for_each(|page| self.remove(page));
        let within = (len % self.page_size as u64) as usize;
        if let Some(slot) = self.slots.get_mut(&(len / self.page_size as u64))
            && let Content::Here(bytes) = &mut slot.content
        {
            bytes.get_mut(within..).unwrap_or_default().fill(0);
            slot.dirty =
                slot.dirty.take().map(|range| range.start..range.end.min(within)).filter(|range| !range.is_empty());
        }
        (self.len, self.stored) = (len, len);
    }

    fn remove(&mut self, page: u64) {
        if let Some(slot) = self.slots.remove(&page) {
            self.by_use.remove(&slot.used);
        }
    }

    // Writing back.

    /// The dirty bytes of these pages, from now on on their way.
    pub(super) fn begin_leaving(&mut self, touched: &Touched) -> Vec<Leaving> {
        let dirty = self.among(touched).filter(|(_, slot)| slot.dirty.is_some()).map(|(page, _)| page);
        let pages: Vec<u64> = dirty.collect();
        pages.into_iter().filter_map(|page| self.leave(page)).collect()
    }

    pub(super) fn is_leaving(&self, touched: &Touched) -> bool {
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
    pub(super) fn end_leaving(&mut self, leaving: &[Leaving], arrived: bool) {
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

    /// Drops pages that nobody holds, least recently used first, until there are no more than there may be. Gives the dirty ones
    /// among them, which must be written back first.
    pub(super) fn shrink(&mut self) -> Vec<Leaving> {
        let over = self.slots.len().saturating_sub(self.capacity);
        let idle = |page: &u64| {
            self.slots.get(page).is_some_and(|slot| slot.leaving.is_none())
                && !self.direct.values().any(|touched| touched.contains(*page))
        };
        let victims: Vec<u64> = self.by_use.values().copied().filter(idle).take(over).collect();
        let mut dirty = Vec::new();
        for page in victims {
            match self.leave(page) {
                Some(leaving) => dirty.push(leaving),
                None => self.remove(page),
            }
        }
        dirty
    }
}

impl Slot {
    fn overwrite(&mut self, range: Range<usize>, new: &[u8]) {
        if let Content::Here(bytes) = &mut self.content
            && let Some(place) = bytes.get_mut(range)
        {
            place.copy_from_slice(new);
        }
    }
}

/// The pages of a range, and the range within each.
fn spans(page_size: usize, addr: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let size = page_size as u64;
    let (mut page, mut start, mut left) = (addr / size, (addr % size) as usize, len);
    std::iter::from_fn(move || {
        let here = left.min(page_size - start);
        let span = (here > 0).then_some((page, start..start + here));
        (page, start, left) = (page + 1, 0, left - here);
        span
    })
}

/// The pages of a range, the range within each, and its bytes.
fn slices(page_size: usize, addr: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, Range<usize>, &[u8])> {
    let mut done = 0;
    spans(page_size, addr, bytes.len()).filter_map(move |(page, range)| {
        let from = done;
        done += range.len();
        Some((page, range, bytes.get(from..done)?))
    })
}

/// How long the storage must be to hold these bytes; a write of nothing extends nothing.
fn end(addr: u64, bytes: &[u8]) -> u64 {
    if bytes.is_empty() { 0 } else { addr.saturating_add(bytes.len() as u64) }
}

fn union(old: Option<Range<usize>>, new: Range<usize>) -> Range<usize> {
    old.map_or(new.clone(), |old| old.start.min(new.start)..old.end.max(new.end))
}
