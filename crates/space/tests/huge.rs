//! Extents with more elements than 64 bits can count: what is selected in them is as in small ones, only elsewhere.

use hyperslab_space::{Error, Extent, Grid, LibVersion, Moves, Op, Slab, Space, UNLIMITED};
use proptest::prelude::*;

const SIDE: u64 = 1 << 40;
/// Near the end of the extent.
const FAR: u64 = SIDE - 60;

fn huge() -> Space {
    Space::simple(&[SIDE, SIDE, SIDE]).unwrap()
}

#[test]
fn all_of_it_is_more_than_a_request_can_have() {
    let (all, line) = (huge(), Space::simple(&[u64::MAX - 1]).unwrap());
    assert_eq!((all.npoints(), all.nblocks(), all.extent().elements()), (UNLIMITED, 1, None));
    assert_eq!(all.bounds().unwrap().1.as_slice(), [SIDE - 1; 3]);
    let grid = Grid::new(&[64, 64, 64]).unwrap();
    assert!(matches!(all.pieces(&grid, &all), Err(Error::Elements(_))));
    assert!(matches!(all.pieces(&grid, &line), Err(Error::Elements(_))));
    assert!(matches!(all.project_intersection(&line, &all), Err(Error::Elements(_))));
    assert!(matches!(all.runs(1), Err(Error::Bytes { .. })));
    assert!(matches!(all.flatten(1), Err(Error::Bytes { .. })));
    assert!(matches!(all.segments::<()>(1, hyperslab_space::Detail::Single), Err(Error::Bytes { .. })));
    assert!(Moves::new(&all, &all, 1).is_err());
    assert_eq!(all.only_run(1), None);
}

#[test]
fn a_part_of_it_corresponds_to_a_part_of_another() {
    let (all, mut other, mut part) = (huge(), Space::simple(&[SIDE, 2 * SIDE, SIDE]).unwrap(), huge());
    other.select_hyperslab(Op::Set, &[Slab::block(0, SIDE), Slab::block(SIDE, SIDE), Slab::block(0, SIDE)]).unwrap();
    part.select_hyperslab(Op::Set, &[Slab::block(3, 2), Slab::block(FAR, 5), Slab::block(7, 1)]).unwrap();
    let carried = all.project_intersection(&other, &part).unwrap();
    assert_eq!((carried.npoints(), carried.dims()), (10, other.dims()));
    assert_eq!(carried.bounds().unwrap().0.as_slice(), [3, SIDE + FAR, 7]);
    assert_eq!(other.project_intersection(&all, &carried).unwrap().bounds(), part.bounds());
    // Those do not correspond in each dimension.
    let wide = Space::simple(&[SIDE, SIDE / 2, 2 * SIDE]).unwrap();
    assert!(matches!(all.project_intersection(&wide, &part), Err(Error::Elements(_))));
}

#[test]
fn sets_of_more_elements_than_64_bits_count() {
    let mut space = huge();
    let one = [Slab::block(5, 1), Slab::block(FAR, 1), Slab::block(SIDE - 1, 1)];
    space.select_hyperslab(Op::NotB, &one).unwrap();
    assert_eq!(space.npoints(), UNLIMITED);
    assert!(!space.contains(&[5, FAR, SIDE - 1]).unwrap() && space.contains(&[5, FAR, SIDE - 2]).unwrap());
    // Counts that stopped at the largest number are right again when fewer elements are left.
    space.select_hyperslab(Op::And, &[Slab::block(4, 2), Slab::block(FAR, 2), Slab::block(SIDE - 3, 3)]).unwrap();
    assert_eq!(space.npoints(), 11);
    let bytes = space.encode(LibVersion::V112).unwrap();
    assert_eq!(Space::decode(&bytes).unwrap(), space);
}

#[test]
fn nothing_in_an_extent_that_would_be_too_large() {
    let none = Space::with_max(&[0, SIDE, SIDE], &[None, Some(SIDE), None]).unwrap();
    assert_eq!((none.npoints(), none.bounds(), none.runs(8).unwrap().count()), (0, None, 0));
    assert_eq!(none.flatten(8).unwrap().npoints(), 0);
    assert_eq!(none.pieces(&Grid::new(&[1, 64, 64]).unwrap(), &none).unwrap().count(), 0);
    let mut outside = none;
    outside.select_points(&[0, 1, 1]).unwrap();
    assert!(matches!(outside.runs(8), Err(Error::OutOfExtent { .. })));
}

#[test]
fn messages_with_such_extents_are_read() {
    let extent = Extent::with_max(&[SIDE, SIDE, 3], &[None, Some(SIDE), Some(3)]).unwrap();
    for version in [1, 2] {
        let bytes = extent.encode(version, false).unwrap();
        assert_eq!(Extent::decode(&bytes, hyperslab_base::Width::W8).unwrap(), extent);
    }
}

/// A selection in a box of 60 × 60 × 60 elements.
fn select(space: &mut Space, origin: u64, parts: &[Vec<(u64, u64, u64)>], points: bool) {
    space.select_none();
    let slab = |&(start, count, block): &(u64, u64, u64)| Slab::new(origin + start, block + 3, count, block);
    for slabs in parts {
        space.select_hyperslab(Op::Or, &slabs.iter().map(slab).collect::<Vec<_>>()).unwrap();
    }
    if points {
        let coords: Vec<u64> = space.coords().unwrap().take(50).flatten().collect();
        space.select_points(&coords).unwrap();
    }
}

proptest! {
    #[test]
    fn pieces_near_the_end_are_those_of_a_small_extent(
        parts in prop::collection::vec(prop::collection::vec((0..20u64, 1..5u64, 1..4u64), 3), 1..4),
        chunk in prop::collection::vec(prop::sample::select(vec![1u64, 3, 5, 12, 20, 60]), 3),
        points: bool,
    ) {
        let (mut small, mut far) = (Space::simple(&[60, 60, 60]).unwrap(), huge());
        // A multiple of every chunk size.
        let origin = FAR - FAR % 60;
        select(&mut small, 0, &parts, points);
        select(&mut far, origin, &parts, points);
        prop_assert_eq!(small.npoints(), far.npoints());
        let (memory, grid) = (Space::simple(&[small.npoints()]).unwrap(), Grid::new(&chunk).unwrap());
        let here: Vec<_> = small.pieces(&grid, &memory).unwrap().collect::<Result<_, _>>().unwrap();
        let there: Vec<_> = far.pieces(&grid, &memory).unwrap().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(here.len(), there.len());
        for (here, there) in here.iter().zip(&there) {
            let moved: Vec<u64> = here.chunk.iter().zip(&chunk).map(|(nth, size)| nth + origin / size).collect();
            prop_assert_eq!(&moved[..], &there.chunk[..]);
            prop_assert_eq!((&here.file, &here.memory), (&there.file, &there.memory));
        }
    }
}
