//! The parts of requests that pages in memory serve, apart from those that they cannot.

use super::bytes::spans;
use super::{Content, Slot, Slots};
use crate::page_buffer::touched::Touched;

impl Slots {
    pub(super) fn is_here(&self, page: u64) -> bool {
        matches!(self.slots.get(&page), Some(Slot { content: Content::Here(_), .. }))
    }

    /// Whether none of these pages is here.
    pub(in crate::page_buffer) fn is_absent(&self, touched: &Touched) -> bool {
        self.among(touched).all(|(_, slot)| !matches!(slot.content, Content::Here(_)))
    }

    /// Those of these pages that are not here.
    pub(in crate::page_buffer) fn absent(&self, touched: &Touched) -> Touched {
        touched.filter(|page| !self.is_here(page))
    }

    /// Copies from pages that are here, which thereby are used. Bytes of other pages are zeros beyond the end of the storage, and else given to `absent`, those of
    /// adjacent pages together.
    pub(in crate::page_buffer) fn read_resident<'b>(
        &mut self,
        addr: u64,
        mut buf: &'b mut [u8],
        mut absent: impl FnMut(u64, &'b mut [u8]),
    ) {
        for (at, length, is_here) in self.stretches(addr, buf.len()) {
            let Some((now, later)) = std::mem::take(&mut buf).split_at_mut_checked(length) else { return };
            buf = later;
            if is_here {
                self.read(at, now);
                spans(self.page_size, at, length).for_each(|(page, _)| self.used(page));
                continue;
            }
            let stored = usize::try_from(self.stored.saturating_sub(at)).unwrap_or(usize::MAX).min(length);
            let (stored, beyond) = now.split_at_mut(stored);
            beyond.fill(0);
            if !stored.is_empty() {
                absent(at, stored);
            }
        }
    }

    /// Copies to pages that are here, which thereby are dirty and used. Bytes of other pages are given to `absent`, those of adjacent pages together.
    pub(in crate::page_buffer) fn write_resident<'b>(
        &mut self,
        addr: u64,
        buf: &'b [u8],
        mut absent: impl FnMut(u64, &'b [u8]),
    ) {
        let mut rest = buf;
        for (at, length, is_here) in self.stretches(addr, buf.len()) {
            let Some((now, later)) = rest.split_at_checked(length) else { return };
            rest = later;
            if is_here {
                self.write(at, now);
                spans(self.page_size, at, length).for_each(|(page, _)| self.used(page));
            } else {
                absent(at, now);
            }
        }
    }

    /// A range of bytes in stretches of pages that are all here or all not: address, length, whether they are here.
    fn stretches(&self, addr: u64, len: usize) -> Vec<(u64, usize, bool)> {
        let mut stretches: Vec<(u64, usize, bool)> = Vec::new();
        for (page, range) in spans(self.page_size, addr, len) {
            let is_here = self.is_here(page);
            match stretches.last_mut().filter(|last| last.2 == is_here) {
                Some((_, length, _)) => *length += range.len(),
                None => stretches.push((self.addr(page) + range.start as u64, range.len(), is_here)),
            }
        }
        stretches
    }
}
