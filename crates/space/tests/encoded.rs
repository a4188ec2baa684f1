//! The elements of encoded dataspaces, walked where they are, against those of the dataspaces.

use std::ops::Range;

use hyperslab_space::{EncodedSpace, Error, Extent, Form, LibVersion, Space};
use proptest::prelude::*;

use crate::{limits::soon, twin::*};

fn forms() -> impl Iterator<Item = Form> {
    LibVersion::ALL.into_iter().map(Form::LibVersion).chain([Form::Smallest])
}

/// The runs of an encoded dataspace; those that touch are one.
fn walked(bytes: &[u8]) -> Result<Vec<Range<u64>>, Error> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    EncodedSpace::read(bytes)?.for_each_run(|run| {
        assert!(!run.is_empty());
        match runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => runs.push(run),
        }
        Ok::<(), Error>(())
    })?;
    Ok(runs)
}

/// The row-major numbers of the elements of a dataspace in the order of its selection, as runs.
fn numbered(space: &Space) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for number in coords_of(space).iter().map(|coords| linear(space.dims(), coords)) {
        match runs.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// An encoded dataspace with a list of blocks in numbers of so many bytes.
fn block_list(dims: &[u64], blocks: &[Vec<Range<u64>>], width: usize) -> Vec<u8> {
    let mut space = Space::simple(dims).unwrap();
    space.select_none();
    let mut bytes = space.encode(Form::Smallest).unwrap();
    bytes.truncate(bytes.len() - 16);
    bytes.extend([2, 0, 0, 0, 3, 0, 0, 0, 0, width as u8]);
    bytes.extend((dims.len() as u32).to_le_bytes());
    let corners = blocks
        .iter()
        .flat_map(|block| block.iter().map(|side| side.start).chain(block.iter().map(|side| side.end - 1)));
    let numbers = [blocks.len() as u64].into_iter().chain(corners);
    bytes.extend(numbers.flat_map(|number| number.to_le_bytes().into_iter().take(width)));
    bytes
}

/// Blocks of any extent, which may overlap or touch: some rise as writers list them.
fn blocks() -> impl Strategy<Value = (Vec<u64>, Vec<Vec<Range<u64>>>)> {
    (dims(), any::<bool>()).prop_flat_map(|(dims, flat)| {
        let sides = dims.iter().map(move |&dim| {
            (0..dim, 0..if flat { 1 } else { dim }).prop_map(move |(low, more)| low..dim.min(low + more + 1))
        });
        let block = sides.collect::<Vec<_>>();
        let order = |range: &Range<u64>| (range.start, range.end);
        let blocks = (prop::collection::vec(block, 0..12), 0..3).prop_map(move |(mut blocks, sorted)| {
            if sorted > 0 {
                blocks.sort_by_key(|block| block.iter().map(order).collect::<Vec<_>>());
                blocks.dedup();
            }
            blocks
        });
        (Just(dims), blocks)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_any_selection((dims, recipe) in selection()) {
        let space = recipe.space(&dims);
        for form in forms() {
            let bytes = space.encode(form).unwrap();
            prop_assert_eq!(walked(&bytes).unwrap(), numbered(&space));
            prop_assert_eq!(EncodedSpace::read(&bytes).unwrap().to_space().unwrap(), space.clone());
        }
        let mut points = space.clone();
        points.select_points(&coords_of(&space).concat()).unwrap();
        prop_assert_eq!(walked(&space.encode_as_points().unwrap()).unwrap(), numbered(&points));
    }

    #[test]
    fn of_blocks_in_any_order((dims, blocks) in blocks(), width in prop::sample::select(vec![2usize, 4, 8])) {
        let bytes = block_list(&dims, &blocks, width);
        let space = Space::decode(&bytes).unwrap();
        prop_assert_eq!(walked(&bytes).unwrap(), numbered(&space));
    }
}

#[test]
fn elements_outside_the_extent_are_refused() {
    let point = |number: u64| {
        let mut space = Space::simple(&[4, 10]).unwrap();
        space.select_points(&[3, number]).unwrap();
        space.encode(Form::Smallest).unwrap()
    };
    assert_eq!(walked(&point(9)).unwrap(), vec![39..40; 1]);
    assert_eq!(walked(&point(10)), Err(Error::OutOfExtent { dim: 1, high: 10, size: 10 }));
    for last in [4, 60_000] {
        let bytes = block_list(&[4, 10], &[vec![0..1, 3..4], vec![2..last + 1, 3..4]], 2);
        assert_eq!(walked(&bytes), Err(Error::OutOfExtent { dim: 0, high: last, size: 4 }));
    }
    let large = Space::new(Extent::simple(&[1 << 40, 1 << 40]).unwrap()).encode(Form::Smallest).unwrap();
    assert!(matches!(walked(&large), Err(Error::Elements(_))));
}

#[test]
fn points_of_an_empty_extent_are_refused() {
    let large = 1 << 40;
    let mut bytes = Space::simple(&[large, large, 0]).unwrap().encode(Form::Smallest).unwrap();
    let length = u32::from_le_bytes(bytes[3..7].try_into().unwrap()) as usize;
    bytes.truncate(7 + length);
    // Points of version 2 in numbers of 8 bytes: one of three coordinates.
    bytes.extend([1, 0, 0, 0, 2, 0, 0, 0, 8, 3, 0, 0, 0]);
    bytes.extend([1, large - 1, 1, 0].iter().flat_map(|number: &u64| number.to_le_bytes()));
    assert_eq!(walked(&bytes), Err(Error::OutOfExtent { dim: 2, high: 0, size: 0 }));
}

#[test]
fn blocks_that_touch_are_joined_before_they_are_walked() {
    let tall = (1 << 30) - 1;
    for dims in [vec![tall, 2, 1], vec![tall, 2], vec![tall, 2, 2, 1]] {
        // The first or the second half in the second dimension, and all in others.
        let half = |nth: u64| {
            let sides = dims.iter().enumerate();
            sides.map(|(dim, size)| if dim == 1 { nth..nth + 1 } else { 0..*size }).collect::<Vec<_>>()
        };
        let bytes = block_list(&dims, &[half(0), half(1)], 4);
        let all = dims.iter().product();
        soon("a walk over blocks that touch", || assert_eq!(walked(&bytes).unwrap(), vec![0..all; 1]));
    }
}

#[test]
fn a_walk_stops_where_it_is_told() {
    // Two columns of a tall array: four thousand million runs.
    let bytes = block_list(&[1 << 31, 5], &[vec![0..1 << 31, 0..1], vec![0..1 << 31, 2..3]], 4);
    let mut left = 1000;
    let stopped = EncodedSpace::read(&bytes).unwrap().for_each_run(|_| {
        left -= 1;
        if left == 0 { Err(Error::TooComplex(1000)) } else { Ok(()) }
    });
    assert_eq!(stopped, Err(Error::TooComplex(1000)));
}
