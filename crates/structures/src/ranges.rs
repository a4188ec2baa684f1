//! Free ranges of bytes.

use std::collections::{BTreeMap, BTreeSet};

/// Ranges that do not touch each other, by where they are and by size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    by_start: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl Ranges {
    /// Start and size of each, by rising start.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.by_start.iter().map(|(&start, &size)| (start, size))
    }

    /// The smallest range that has room, the first one of those: its start and size.
    pub(crate) fn best(&self, length: u64) -> Option<(u64, u64)> {
        self.by_size.range((length, 0)..).next().map(|&(size, start)| (start, size))
    }

    /// The range before this place, and touching it.
    pub(crate) fn ending_at(&self, end: u64) -> Option<(u64, u64)> {
        let (&start, &size) = self.by_start.range(..end).next_back()?;
        (start.checked_add(size) == Some(end)).then_some((start, size))
    }

    /// Takes the range out that begins here; whether there was one.
    pub(crate) fn take(&mut self, start: u64) -> bool {
        let size = self.by_start.remove(&start);
        size.is_some_and(|size| self.by_size.remove(&(size, start)))
    }

    /// Takes bytes from the front of the range that begins here, all of it if it has no more; whether there was one.
    pub(crate) fn take_front(&mut self, start: u64, length: u64) -> bool {
        let Some(size) = self.by_start.remove(&start) else { return false };
        self.by_size.remove(&(size, start));
        // What is left touches nothing: in front of it are the bytes that were taken.
        if let Some(left) = size.checked_sub(length).filter(|left| *left > 0) {
            self.by_start.insert(start + length, left);
            self.by_size.insert((left, start + length));
        }
        true
    }

    /// Adds a range; it is joined with those that it touches.
    pub(crate) fn add(&mut self, mut start: u64, mut size: u64) {
        if size == 0 {
            return;
        }
        if let Some((before, length)) = self.ending_at(start) {
            self.take(before);
            (start, size) = (before, size.saturating_add(length));
        }
        if let Some(&length) = start.checked_add(size).and_then(|end| self.by_start.get(&end)) {
            self.take(start + size);
            size = size.saturating_add(length);
        }
        self.by_start.insert(start, size);
        self.by_size.insert((size, start));
    }

    /// Whether something of a range is free.
    pub(crate) fn touches(&self, start: u64, length: u64) -> bool {
        let end = start.saturating_add(length);
        let last = self.by_start.range(..end).next_back();
        last.is_some_and(|(begin, size)| begin.saturating_add(*size) > start)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut ranges = Ranges::default();
        for (start, size) in [(8, 8), (24, 8), (16, 8), (64, 16)] {
            ranges.add(start, size);
        }
        assert_eq!(ranges.all().collect::<Vec<_>>(), [(8, 24), (64, 16)]);
        assert_eq!((ranges.best(10), ranges.best(20), ranges.best(25)), (Some((64, 16)), Some((8, 24)), None));
        assert!(ranges.touches(0, 9) && !ranges.touches(32, 32));
        assert!(ranges.take_front(8, 4) && !ranges.take_front(8, 4));
        assert_eq!((ranges.best(20), ranges.touches(8, 4)), (Some((12, 20)), false));
        assert!(ranges.take_front(12, 20) && !ranges.touches(0, 64));
        ranges.add(8, 24);
        assert!(ranges.take(8) && !ranges.take(8));
        assert_eq!(ranges.ending_at(80), Some((64, 16)));
    }
}
