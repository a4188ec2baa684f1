//! Parts of a buffer that can be filled at the same time.
//!
//! Lives here: [`bands`]. Does not live here: what fills them. Called by drivers that serve one request with several threads, and by
//! `chunk`.

use std::ops::Range;

/// A part of a buffer, and what goes there and nowhere else.
#[derive(Debug)]
pub struct Band<'b> {
    /// Where it starts in the buffer.
    pub start: usize,
    /// Its bytes.
    pub bytes: &'b mut [u8],
    /// Which of the ranges lie in it, in their order.
    pub items: Vec<usize>,
}

/// Cuts a buffer into bands such that each range lies in one; ranges that overlap share one. What reaches over the buffer is cut.
///
/// ```
/// use hyperslab_driver::lower::bands;
/// let mut buf = [0; 10];
/// let bands = bands(&mut buf, &[6..9, 0..4, 2..5]);
/// let shown: Vec<_> = bands.iter().map(|band| (band.start, band.bytes.len(), band.items.as_slice())).collect();
/// assert_eq!(shown, [(0, 5, &[1, 2][..]), (6, 3, &[0])]);
/// ```
pub fn bands<'b>(buf: &'b mut [u8], ranges: &[Range<usize>]) -> Vec<Band<'b>> {
    let mut order: Vec<(&Range<usize>, usize)> = ranges.iter().zip(0..).collect();
    if !ranges.is_sorted_by_key(|range| range.start) {
        order.sort_by_key(|(range, item)| (range.start, *item));
    }
    let mut bands = Vec::new();
    let (mut rest, mut at) = (buf, 0);
    let mut order = order.into_iter().peekable();
    while let Some((first, item)) = order.next() {
        let (mut end, mut items) = (first.end, vec![item]);
        while let Some((range, item)) = order.next_if(|(range, _)| range.start < end) {
            end = end.max(range.end);
            items.push(item);
        }
        items.sort_unstable();
        let start = first.start.min(at + rest.len());
        let end = end.clamp(start, at + rest.len());
        let (_, tail) = std::mem::take(&mut rest).split_at_mut(start - at);
        let (bytes, tail) = tail.split_at_mut(end - start);
        bands.push(Band { start, bytes, items });
        (rest, at) = (tail, end);
    }
    bands
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_range_is_in_one_band(ranges in prop::collection::vec((0usize..120, 0usize..12), 0..20)) {
            let ranges: Vec<_> = ranges.into_iter().map(|(start, len)| start..start + len).collect();
            let mut buf = [0; 100];
            let bands = bands(&mut buf, &ranges);
            let mut items: Vec<usize> = bands.iter().flat_map(|band| band.items.clone()).collect();
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..ranges.len()));
            for band in &bands {
                prop_assert!(band.items.is_sorted());
                for range in band.items.iter().map(|&item| &ranges[item]) {
                    prop_assert!(band.start <= range.start.min(100));
                    prop_assert!(range.end.min(100) <= band.start + band.bytes.len() || range.start >= 100);
                }
            }
        }
    }
}
