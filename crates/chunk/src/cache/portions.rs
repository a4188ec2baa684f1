//! Filtered chunks that replace others are written in portions: a file never has all old ones and all new ones at once.

use std::ops::Range;

use hyperslab_space::Coords;

use super::Home;

/// Whether filtered chunks of a dataset, by rising place, replace others: the first or the last one does.
pub(super) fn replace(home: &dyn Home, first: &Coords, last: &Coords) -> bool {
    let mut any = false;
    let looked = home.look(&mut |layout| {
        let ends = [first, last].into_iter().map(|place| layout.locate(home.file(), std::slice::from_ref(place)));
        any = ends.collect::<crate::Result<Vec<_>>>()?.into_iter().flatten().any(|found| found.is_some());
        Ok(())
    });
    // What cannot be found is told when it is written.
    home.facts().coder.is_some() && looked.is_ok() && any
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
