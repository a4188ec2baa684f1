//! Which pages a request touches.

use std::ops::Range;

/// A set of pages, as ranges of page numbers: ascending, apart from each other.
#[derive(Debug, Clone)]
pub(super) struct Touched {
    ranges: Vec<Range<u64>>,
    /// The range of bytes that reaches farthest.
    last: (u64, usize),
}

impl Touched {
    /// The pages of ranges of bytes, given by address and length; fails with the first range that overflows.
    pub(super) fn new(page_size: usize, bytes: impl Iterator<Item = (u64, usize)>) -> Result<Self, (u64, usize)> {
        let (size, mut ranges, mut last) = (page_size as u64, Vec::<Range<u64>>::new(), (0, 0));
        for (addr, len) in bytes.filter(|(_, len)| *len > 0) {
            let past = addr.checked_add(len as u64).ok_or((addr, len))?;
            if past > end(last) {
                last = (addr, len);
            }
            join(&mut ranges, addr / size..past.div_ceil(size));
        }
        if !ranges.is_sorted_by(|a, b| a.end < b.start) {
            ranges.sort_by_key(|range| range.start);
            let mut joined = Vec::new();
            ranges.into_iter().for_each(|range| join(&mut joined, range));
            ranges = joined;
        }
        Ok(Touched { ranges, last })
    }

    /// Every page there can be.
    pub(super) fn everything() -> Self {
        Touched { ranges: std::iter::once(0..u64::MAX).collect(), last: (0, 0) }
    }

    /// All pages from that of an address on.
    pub(super) fn from(page_size: usize, addr: u64) -> Self {
        Touched { ranges: std::iter::once(addr / page_size as u64..u64::MAX).collect(), last: (0, 0) }
    }

    pub(super) fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).fold(0, u64::saturating_add)
    }

    /// The pages, if they follow each other.
    pub(super) fn only_range(&self) -> Option<Range<u64>> {
        match self.ranges.as_slice() {
            [range] => Some(range.clone()),
            _ => None,
        }
    }

    /// These pages with so many behind the last one. The request is the same.
    pub(super) fn longer(&self, pages: u64) -> Self {
        let mut longer = self.clone();
        longer.ranges.last_mut().into_iter().for_each(|last| last.end = last.end.saturating_add(pages));
        longer
    }

    /// The first byte past the request.
    pub(super) fn end(&self) -> u64 {
        end(self.last)
    }

    /// The range of bytes that reaches farthest.
    pub(super) fn last(&self) -> (u64, usize) {
        self.last
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().cloned()
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges().flatten()
    }

    /// The pages among these that are wanted.
    pub(super) fn filter(&self, wanted: impl Fn(u64) -> bool) -> Self {
        let mut ranges = Vec::new();
        self.pages().filter(|page| wanted(*page)).for_each(|page| join(&mut ranges, page..page + 1));
        Touched { ranges, last: self.last }
    }

    pub(super) fn contains(&self, page: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= page);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|range| page < range.end)
    }

    pub(super) fn overlaps(&self, other: &Touched) -> bool {
        let (few, many) = if self.ranges.len() < other.ranges.len() { (self, other) } else { (other, self) };
        few.ranges.iter().any(|range| {
            let before = many.ranges.partition_point(|other| other.end <= range.start);
            many.ranges.get(before).is_some_and(|other| other.start < range.end)
        })
    }
}

fn end((addr, len): (u64, usize)) -> u64 {
    addr.saturating_add(len as u64)
}

/// Appends a range, to the last one if they touch.
fn join(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.start <= range.start && range.start <= last.end => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn naive(ranges: &[(u64, usize)]) -> BTreeSet<u64> {
        ranges.iter().flat_map(|&(addr, len)| addr..addr + len as u64).map(|byte| byte / 10).collect()
    }

    proptest! {
        #[test]
        fn like_a_set_of_pages(
            a in prop::collection::vec((0u64..300, 0usize..40), 0..8),
            b in prop::collection::vec((0u64..300, 0usize..40), 0..8),
        ) {
            let (one, two) = (Touched::new(10, a.iter().copied()).unwrap(), Touched::new(10, b.iter().copied()).unwrap());
            let (set, other) = (naive(&a), naive(&b));
            prop_assert_eq!(one.count(), set.len() as u64);
            prop_assert_eq!(one.pages().collect::<BTreeSet<_>>(), set.clone());
            prop_assert_eq!(one.overlaps(&two), !set.is_disjoint(&other));
            for page in 0..40 {
                prop_assert_eq!(one.contains(page), set.contains(&page));
            }
            let even: BTreeSet<_> = set.into_iter().filter(|page| page % 2 == 0).collect();
            prop_assert_eq!(one.filter(|page| page % 2 == 0).pages().collect::<BTreeSet<_>>(), even);
        }
    }
}
