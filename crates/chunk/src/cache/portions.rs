//! Filtered chunks that replace others are written in portions: a file never has all old ones and all new ones at once.

use std::ops::Range;

use super::ChunkSource;
use crate::ChunkCoord;

/// Whether chunks of a dataset, by rising coordinate, are stored again at other addresses: the first or the last one is.
pub(super) fn replace(source: &ChunkSource, first: &ChunkCoord, last: &ChunkCoord) -> bool {
    if source.layout().is_addressable() {
        return false;
    }
    let is_stored = |coord: &ChunkCoord| {
        // What cannot be found is told when it is written.
        let located = source.storage().locate(std::slice::from_ref(coord));
        located.is_ok_and(|located| located.iter().any(Option::is_some))
    };
    is_stored(first) || is_stored(last)
}

/// Ranges of items of these sizes, each of which has at most so many bytes, or one item.
pub(super) fn portions(sizes: impl Iterator<Item = u64>, most: u64) -> Vec<Range<usize>> {
    let (mut ranges, mut bytes): (Vec<Range<usize>>, u64) = (Vec::new(), 0);
    for (nth, size) in sizes.enumerate() {
        bytes = bytes.saturating_add(size);
        match ranges.last_mut().filter(|_| bytes <= most) {
            Some(last) => last.end = nth + 1,
            None => {
                ranges.push(nth..nth + 1);
                bytes = size;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::portions;

    #[test]
    fn each_portion_has_at_most_so_many_bytes_or_one_item() {
        assert_eq!(portions([4, 4, 9, 1, 1, 20].into_iter(), 10), [0..2, 2..4, 4..5, 5..6]);
        assert!(portions(std::iter::empty(), 10).is_empty());
    }
}
