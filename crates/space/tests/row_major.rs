//! Selections from row-major numbers against the elements one by one.

use std::{collections::BTreeSet, ops::Range};

use hyperslab_space::{Block, Error, Form, Kind, Op, Space};
use proptest::prelude::*;

use crate::{limits::soon, twin::*};

/// An extent and a set of row-major numbers in it: those of a random selection, or stretches of random lengths.
fn numbers() -> impl Strategy<Value = (Vec<u64>, BTreeSet<u64>)> {
    let selected = selection().prop_map(|(dims, recipe)| {
        let set: BTreeSet<u64> = recipe.coords(&dims).iter().map(|coords| linear(&dims, coords)).collect();
        (dims, set)
    });
    let stretches =
        (dims(), prop::sample::select(vec![2u64, 6, 40]), prop::collection::vec(any::<(u64, u64)>(), 0..40));
    let stretches = stretches.prop_map(|(dims, longest, steps)| {
        let (mut set, mut at) = (BTreeSet::<u64>::new(), 0);
        for (gap, len) in steps {
            at += gap % longest;
            set.extend((at..at + len % longest).filter(|&number| number < dims.iter().product::<u64>()));
            at += len % longest;
        }
        (dims, set)
    });
    prop_oneof![selected, stretches]
}

/// The set as ranges. Ranges touch before the numbers whose bit is set in `cuts`, and an empty range stands before each.
fn ranges(set: &BTreeSet<u64>, cuts: u64) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for &number in set {
        match ranges.last_mut() {
            Some(last) if last.end == number && cuts >> (number % 64) & 1 == 0 => last.end += 1,
            _ => ranges.extend([number..number, number..number + 1]),
        }
    }
    ranges
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn elements((dims, set) in numbers(), cuts: u64) {
        let mut space = Space::simple(&dims).unwrap();
        space.select_row_major(ranges(&set, cuts)).unwrap();
        let naive: Vec<Vec<u64>> =
            all_coords(&dims).into_iter().zip(0..).filter(|(_, number)| set.contains(number)).map(|(coords, _)| coords).collect();
        prop_assert_eq!(&coords_of(&space), &naive);
        prop_assert_eq!(space.kind(), match set.len() as u64 {
            0 => Kind::None,
            all if all == dims.iter().product::<u64>() => Kind::All,
            _ => Kind::Hyperslab,
        });
        let runs: Vec<Range<u64>> = space.runs(1).unwrap().map(|run| run.offset..run.end()).collect();
        let whole: Vec<Range<u64>> = ranges(&set, 0).into_iter().filter(|range| !range.is_empty()).collect();
        prop_assert_eq!(&runs, &whole);
        if space.kind() == Kind::Hyperslab {
            let unit = |coords: &Vec<u64>| Block { start: coords.as_slice().into(), end: coords.as_slice().into() };
            let mut bulk = Space::simple(&dims).unwrap();
            bulk.select_blocks(Op::Set, &naive.iter().map(unit).collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(&bulk, &space);
            prop_assert_eq!((bulk.nblocks(), bulk.npoints()), (space.nblocks(), space.npoints()));
        }
        // The numbers are those of the extent, whatever was selected before.
        let mut again = Space::decode(&space.encode(Form::Smallest).unwrap()).unwrap();
        prop_assert_eq!(&again, &space);
        again.select_row_major(runs).unwrap();
        prop_assert_eq!(&again, &space);
    }
}

#[test]
fn ranges_out_of_order_or_outside_are_named() {
    let mut space = Space::simple(&[4, 5]).unwrap();
    space.select_row_major(Some(1..2)).unwrap();
    let before = space.clone();
    let order = |start, end, before| Error::RangeOrder { start, end, before };
    for (ranges, why) in [
        (vec![2..4, 5..7, 6..8, 0..1], order(6, 8, 7)),
        (vec![2..4, 1..2], order(1, 2, 4)),
        (vec![0..1, Range { start: 3, end: 2 }], order(3, 2, 1)),
        (vec![2..4, 4..21, 1..2], Error::RangeOutOfExtent { start: 4, end: 21, elements: 20 }),
        (vec![0..0, 30..31], Error::RangeOutOfExtent { start: 30, end: 31, elements: 20 }),
    ] {
        assert_eq!(space.select_row_major(ranges), Err(why));
        assert_eq!(space, before, "refused ranges leave the selection as it was");
    }
    space.select_row_major([2..2, 2..4, 1..1, 4..6, 99..99]).unwrap();
    assert_eq!(coords_of(&space), [[0, 2], [0, 3], [0, 4], [1, 0]]);
}

#[test]
fn extents_without_dimensions_or_elements() {
    let mut scalar = Space::scalar();
    scalar.select_row_major(None).unwrap();
    assert_eq!(scalar.kind(), Kind::None);
    scalar.select_row_major(Some(0..1)).unwrap();
    assert_eq!(scalar.kind(), Kind::All);
    assert!(scalar.select_row_major(Some(0..2)).is_err());
    for mut none in [Space::null(), Space::simple(&[3, 0, 1 << 40]).unwrap()] {
        none.select_row_major(Some(0..0)).unwrap();
        assert_eq!(none.kind(), Kind::None);
        assert!(matches!(none.select_row_major(Some(0..1)), Err(Error::RangeOutOfExtent { elements: 0, .. })));
    }
    let mut uncounted = Space::simple(&[1 << 40, 1 << 40]).unwrap();
    assert!(matches!(uncounted.select_row_major(Some(0..1)), Err(Error::Elements(_))));
}

#[test]
fn a_range_of_any_length_is_a_few_boxes() {
    let mut plane = Space::simple(&[65_535, 65_535]).unwrap();
    plane.select_row_major(Some(1..65_535 * 65_535 - 1)).unwrap();
    assert_eq!((plane.npoints(), plane.nblocks()), (65_535 * 65_535 - 2, 3));

    for dims in [vec![1u64 << 31, 1 << 32], vec![1 << 32, 1, 1 << 31], vec![1 << 21; 3], vec![1, 1 << 63], vec![3; 32]]
    {
        let elements: u64 = dims.iter().product();
        let mut space = Space::simple(&dims).unwrap();
        space.select_row_major(Some(0..elements)).unwrap();
        assert_eq!(space.kind(), Kind::All);
        soon("one range", || space.select_row_major([1..elements / 2, elements / 2..elements - 1]).unwrap());
        assert_eq!(space.npoints(), elements - 2);
        assert!(space.nblocks() <= 64);
        let last: Vec<u64> = dims.iter().map(|dim| dim - 1).collect();
        assert!(!space.contains(&vec![0; dims.len()]).unwrap() && !space.contains(&last).unwrap());
        let run = space.runs(1).unwrap().collect::<Vec<_>>();
        assert_eq!((run.len(), run[0].offset, run[0].end()), (1, 1, elements - 1));
    }
}

#[test]
fn many_ranges_take_time_by_their_number() {
    let mut square = Space::simple(&[1000, 1000]).unwrap();
    soon("one element in five", || {
        square.select_row_major((0..200_000).map(|n| 5 * n + n % 3..5 * n + n % 3 + 1)).unwrap()
    });
    assert_eq!((square.npoints(), square.runs(1).unwrap().count()), (200_000, 200_000));

    for dims in [vec![65_535u64, 65_535], vec![300, 300, 300, 150], vec![1 << 32]] {
        // Gaps of up to 4000, without a pattern.
        let mut at = 0;
        let mut next = |n: u64| {
            at += n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 4000 + 2;
            at
        };
        let starts: Vec<u64> = (0..1_000_000).map(&mut next).collect();
        let mut space = Space::simple(&dims).unwrap();
        soon("a million elements", || space.select_row_major(starts.iter().map(|&at| at..at + 1)).unwrap());
        assert_eq!(space.npoints(), 1_000_000);
        assert!(space.runs(1).unwrap().map(|run| run.offset).eq(starts));
    }
}
