//! Encoded selections that claim more than they hold, or what no extent has.

use hyperslab_space::{Error, Extent, Result, Space};

use crate::limits::soon;

const POINTS: u32 = 1;
const BLOCKS: u32 = 2;

/// A list of points or blocks with the head of its version, and with numbers of so many bytes.
fn list(kind: u32, version: u32, width: usize, rank: u32, numbers: &[u64]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), version.to_le_bytes()].concat();
    match (kind, version) {
        (_, 1) => bytes.extend([0; 8]),
        (POINTS, _) => bytes.push(width as u8),
        _ => bytes.extend([0, width as u8]),
    }
    bytes.extend(rank.to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width)));
    bytes
}

fn decode(dims: &[u64], bytes: &[u8]) -> Result<Space> {
    Space::decode_selection(Extent::simple(dims)?, bytes).map(|(space, _)| space)
}

#[test]
fn counts_are_checked_against_the_bytes() {
    for rank in [1, 3, 32] {
        let dims = vec![100; rank];
        for (kind, version, width) in [
            (POINTS, 1, 4),
            (POINTS, 2, 2),
            (POINTS, 2, 4),
            (POINTS, 2, 8),
            (BLOCKS, 1, 4),
            (BLOCKS, 3, 2),
            (BLOCKS, 3, 4),
            (BLOCKS, 3, 8),
        ] {
            let numbers = vec![7; if kind == POINTS { rank } else { 2 * rank }];
            let with_count =
                |count: u64| list(kind, version, width, rank as u32, &[&[count][..], &numbers[..]].concat());
            assert_eq!(decode(&dims, &with_count(1)).unwrap().npoints(), 1);
            for count in [2, 60_000, u64::MAX / 2 + 1, u64::MAX / 2 / rank as u64 + 1, u64::MAX] {
                // A count may lose its upper bytes, but no more than one entry is there.
                if count & (u64::MAX >> (64 - 8 * width)) > 1 {
                    let why = decode(&dims, &with_count(count)).unwrap_err().to_string();
                    assert!(why.contains("but there are bytes for 1 only"), "{why}");
                }
            }
        }
    }
}

#[test]
fn elements_outside_the_extent_are_errors_where_they_are_used() {
    for (dims, bytes) in [
        (vec![100], list(POINTS, 2, 2, 1, &[2, 99, 100])),
        (vec![100, 1 << 40], list(POINTS, 2, 8, 2, &[1, 99, u64::MAX - 1])),
        (vec![100], list(BLOCKS, 3, 8, 1, &[2, 1, 2, 4, u64::MAX - 1])),
    ] {
        let space = decode(&dims, &bytes).unwrap();
        assert!(matches!(space.check_inside(), Err(Error::OutOfExtent { .. })));
        assert!(space.runs(8).is_err() && space.strips(8).is_err() && space.flatten(8).is_err());
    }
    assert_eq!(decode(&[100], &list(POINTS, 2, 8, 1, &[1, u64::MAX])), Err(Error::NotAnIndex));
    for (low, high) in [(0, u64::MAX), (5, 4)] {
        assert!(matches!(decode(&[100], &list(BLOCKS, 3, 8, 1, &[1, low, high])), Err(Error::Malformed(_))));
    }
    for rank in [0, 1, 3, u32::MAX] {
        assert!(matches!(decode(&[9, 9], &list(POINTS, 2, 2, rank, &[1, 0, 0, 0])), Err(Error::Malformed(_))));
    }
}

#[test]
fn blocks_that_overlap_in_all_dimensions_are_refused() {
    let (blocks, rank) = (200, 5);
    let corners = (0..blocks).flat_map(|nth| [vec![nth; rank], vec![nth + blocks; rank]].concat());
    let numbers: Vec<u64> = [blocks].into_iter().chain(corners).collect();
    let bytes = list(BLOCKS, 3, 2, rank as u32, &numbers);
    let why = soon("decoding", || decode(&[1000; 5], &bytes)).unwrap_err().to_string();
    assert!(why.contains("overlap"), "{why}");
}

#[test]
fn blocks_in_the_order_of_a_tree_are_read_however_many() {
    // Each block is alone in its first index: no node is shared, and each takes one node per dimension.
    let (blocks, rank) = (20_000, 8);
    let block = |nth: u64| {
        let corner = (0..rank).map(move |at| if at == 0 { nth } else { nth.wrapping_mul(7 + at) % 9 });
        corner.clone().chain(corner).collect::<Vec<u64>>()
    };
    let numbers: Vec<u64> = [blocks].into_iter().chain((0..blocks).flat_map(block)).collect();
    let bytes = list(BLOCKS, 3, 2, rank as u32, &numbers);
    let space = soon("decoding", || decode(&[65_535; 8], &bytes)).unwrap();
    assert_eq!((space.npoints(), space.nblocks()), (blocks, blocks));
}

#[test]
fn blocks_that_overlap_their_neighbours_in_many_dimensions_are_refused() {
    // Pairs overlap in all dimensions: each block could become a hundred nodes.
    let (blocks, rank) = (20_000, 8);
    let block = |nth: u64| {
        let low = (0..rank).map(move |at| if at == 0 { 3 * nth } else { nth.wrapping_mul(131 * at + 17) % 1000 });
        let high = low.clone().enumerate().map(|(at, low)| low + if at == 0 { 3 } else { 500 });
        low.chain(high).collect::<Vec<u64>>()
    };
    let numbers: Vec<u64> = [blocks].into_iter().chain((0..blocks).flat_map(block)).collect();
    let bytes = list(BLOCKS, 3, 2, rank as u32, &numbers);
    let why = soon("decoding", || decode(&[65_535; 8], &bytes)).unwrap_err().to_string();
    assert!(why.contains("overlap"), "{why}");
}
