//! Bytes that come into pages: from the storage, from requests, and from requests that bypass the pages.

use std::ops::Range;

use super::{Content, Slot, Slots, union};
use crate::page_buffer::touched::Touched;

impl Slots {
    /// Which of these pages the caller must load: those that are absent, `needed`, and in the storage. From now on they count
    /// as loading; those beyond the storage are zeros at once.
    pub(in crate::page_buffer) fn begin_load(&mut self, touched: &Touched, needed: impl Fn(u64) -> bool) -> Vec<u64> {
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
    pub(in crate::page_buffer) fn end_load(&mut self, page: u64, bytes: Option<Vec<u8>>) {
        if let Some(slot) = self.slots.get_mut(&page) {
            slot.content = bytes.map_or(Content::Absent, Content::Here);
        }
    }

    pub(in crate::page_buffer) fn is_loading(&self, touched: &Touched) -> bool {
        self.among(touched).any(|(_, slot)| matches!(slot.content, Content::Loading))
    }

    /// Copies from pages that are here.
    pub(in crate::page_buffer) fn read(&self, addr: u64, buf: &mut [u8]) {
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
    pub(in crate::page_buffer) fn write(&mut self, addr: u64, buf: &[u8]) {
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
    pub(in crate::page_buffer) fn wrote_directly(&mut self, addr: u64, buf: &[u8]) {
        for (page, range, now) in slices(self.page_size, addr, buf) {
            if let Some(slot) = self.slots.get_mut(&page) {
                slot.overwrite(range, now);
            }
        }
        self.len = self.len.max(end(addr, buf));
        self.stored = self.stored.max(end(addr, buf));
    }

    /// It is unknown what the storage has of these pages, and how long it is if it is longer.
    pub(in crate::page_buffer) fn forget(&mut self, touched: &Touched, stored: u64) {
        let pages: Vec<u64> = self.among(touched).map(|(page, _)| page).collect();
        pages.into_iter().for_each(|page| self.remove(page));
        self.stored = self.stored.max(stored);
        self.len = self.len.max(stored);
    }

    /// The storage below has this length now, and so has the buffer.
    pub(in crate::page_buffer) fn resized(&mut self, len: u64) {
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

    /// The storage below has at least this length now, which is not less than before: what was added is zeros, as pages have it already.
    pub(in crate::page_buffer) fn lengthened(&mut self, len: u64) {
        (self.len, self.stored) = (self.len.max(len), self.stored.max(len));
    }

    /// One kind of the storage below ends at `len` now, and all of it at `stored`: pages behind `len` may be of other kinds, and are clean.
    pub(in crate::page_buffer) fn resized_in_part(&mut self, len: u64, stored: u64) {
        self.resized(len);
        (self.len, self.stored) = (stored, stored);
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
pub(super) fn spans(page_size: usize, addr: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
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
