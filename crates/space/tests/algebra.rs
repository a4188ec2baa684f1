//! Selections against a list of coordinates: what is selected, and what becomes of it.

use std::collections::BTreeSet;

use hyperslab_space::{Block, Form, Kind, LibVersion, Op, Slab, Space, UNLIMITED};
use proptest::prelude::*;

use crate::twin::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn questions((dims, recipe) in selection(), corner in prop::collection::vec((0..8u64, 0..8u64), 4)) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        prop_assert_eq!(space.npoints(), twin.len() as u64);
        prop_assert_eq!(&coords_of(&space), &twin);
        let bounds = space.bounds().map(|(low, high)| (low.to_vec(), high.to_vec()));
        let edge = |pick: fn(u64, u64) -> u64| {
            (0..dims.len()).map(|dim| twin.iter().map(|coords| coords[dim]).reduce(pick).unwrap()).collect::<Vec<_>>()
        };
        prop_assert_eq!(bounds, (!twin.is_empty()).then(|| (edge(u64::min), edge(u64::max))));

        // Blocks cover each element once.
        let blocks: Vec<Block> = space.blocks().unwrap().collect();
        prop_assert_eq!(space.nblocks(), blocks.len() as u64);
        let mut covered: Vec<Vec<u64>> = blocks.iter().flat_map(|block| {
            let sizes: Vec<u64> = block.start.iter().zip(&block.end).map(|(low, high)| high - low + 1).collect();
            all_coords(&sizes).into_iter()
                .map(|coords| coords.iter().zip(&block.start).map(|(index, low)| index + low).collect()).collect::<Vec<_>>()
        }).collect();
        let mut sorted = twin.clone();
        covered.sort();
        sorted.sort();
        prop_assert_eq!(covered, sorted);

        let (low, high): (Vec<u64>, Vec<u64>) = corner.iter().take(dims.len()).map(|&(a, b)| (a.min(b), a.max(b))).unzip();
        let inside = |coords: &Vec<u64>| coords.iter().zip(low.iter().zip(&high)).all(|(i, (low, high))| low <= i && i <= high);
        prop_assert_eq!(space.intersects_block(&low, &high).unwrap(), twin.iter().any(inside));
        for coords in all_coords(&dims) {
            prop_assert_eq!(space.contains(&coords).unwrap(), twin.contains(&coords));
        }
    }

    #[test]
    fn operations((dims, left, right) in two_selections()) {
        let (a, b) = (left.space(&dims), right.space(&dims));
        let set = |recipe: &Recipe| recipe.coords(&dims).into_iter().collect::<BTreeSet<_>>();
        let (in_a, in_b) = (set(&left), set(&right));
        for op in OPS {
            let mut naive: Vec<_> = all_coords(&dims).into_iter()
                .filter(|coords| op.keeps(in_a.contains(coords), in_b.contains(coords))).collect();
            if in_b.is_empty() && op.keeps(true, false) {
                naive = left.coords(&dims); // nothing changes, not even the order of points
            }
            let result = a.combine(op, &b).unwrap();
            prop_assert_eq!(coords_of(&result), &naive[..], "{:?}", op);
            // Shared and unshared trees go different ways.
            let mut owned = a.clone();
            owned.select_hyperslab(Op::Or, &dims.iter().map(|_| Slab::block(0, 1)).collect::<Vec<_>>()).unwrap();
            let before: BTreeSet<_> = coords_of(&owned).into_iter().collect();
            owned.select(op, b.selection()).unwrap();
            let naive: Vec<_> = all_coords(&dims).into_iter()
                .filter(|coords| op.keeps(before.contains(coords), in_b.contains(coords))).collect();
            prop_assert_eq!(owned.npoints(), naive.len() as u64);
            prop_assert_eq!(coords_of(&owned), naive, "{:?} in place", op);
        }
    }

    #[test]
    fn one_set_has_one_form((dims, recipe) in selection(), order in any::<u64>()) {
        // The same elements, added one by one in any order, give an equal selection.
        let space = recipe.space(&dims);
        if space.kind() != Kind::Hyperslab {
            return Ok(());
        }
        let mut coords = coords_of(&space);
        let len = coords.len();
        coords.rotate_left(order as usize % len);
        let mut again = Space::simple(&dims).unwrap();
        again.select_none();
        for coords in &coords {
            again.select_hyperslab(Op::Or, &coords.iter().map(|&index| Slab::block(index, 1)).collect::<Vec<_>>()).unwrap();
        }
        prop_assert_eq!(&again, &space);
        let unit = |coords: &Vec<u64>| Block { start: coords.as_slice().into(), end: coords.as_slice().into() };
        let mut bulk = Space::simple(&dims).unwrap();
        bulk.select_blocks(Op::Set, &coords.iter().map(unit).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(&bulk, &space);
        prop_assert_eq!(bulk.nblocks(), again.nblocks());
    }

    #[test]
    fn bulk_union_equals_one_by_one(dims in dims(), seeds in prop::collection::vec(any::<u64>(), 0..10)) {
        let block = |seed: &u64| {
            let corner = |dim: &u64, nth: usize| (seed >> (6 * nth)) % dim;
            let (a, b): (Vec<u64>, Vec<u64>) = dims.iter().enumerate().map(|(n, d)| (corner(d, 2 * n), corner(d, 2 * n + 1))).unzip();
            let pairs = || a.iter().zip(&b);
            Block { start: pairs().map(|(a, b)| *a.min(b)).collect(), end: pairs().map(|(a, b)| *a.max(b)).collect() }
        };
        let blocks: Vec<Block> = seeds.iter().map(block).collect();
        let (mut bulk, mut single) = (Space::simple(&dims).unwrap(), Space::simple(&dims).unwrap());
        bulk.select_blocks(Op::Set, &blocks).unwrap();
        single.select_none();
        for block in &blocks {
            let slabs: Vec<_> = block.start.iter().zip(&block.end).map(|(a, b)| Slab::block(*a, b - a + 1)).collect();
            single.select_hyperslab(Op::Or, &slabs).unwrap();
        }
        prop_assert_eq!(bulk, single);
    }

    #[test]
    fn moving((dims, recipe) in selection(), by in prop::collection::vec(-3..4i64, 4)) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        let by = &by[..dims.len()];
        let moved: Option<Vec<Vec<u64>>> = twin.iter()
            .map(|coords| coords.iter().zip(by).map(|(index, by)| index.checked_add_signed(*by)).collect()).collect();
        match (space.moved(by), moved) {
            (Ok(space), Some(twin)) => prop_assert_eq!(coords_of(&space), twin),
            (Err(_), None) => {}
            (result, twin) => prop_assert!(false, "{:?} but {:?}", result, twin),
        }
    }

    #[test]
    fn shapes((dims, left, right) in two_selections(), by in prop::collection::vec(0..3i64, 4)) {
        let (a, b) = (left.space(&dims), right.space(&dims));
        let home = |coords: Vec<Vec<u64>>| {
            let low: Vec<u64> = (0..dims.len()).map(|dim| coords.iter().map(|c| c[dim]).min().unwrap_or(0)).collect();
            coords.iter().map(|c| c.iter().zip(&low).map(|(i, low)| i - low).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let same = home(left.coords(&dims)) == home(right.coords(&dims));
        prop_assert_eq!(a.same_shape(&b).unwrap(), same);
        prop_assert!(a.same_shape(&a.moved(&by[..dims.len()]).unwrap()).unwrap());
    }

    #[test]
    fn encodings((dims, recipe) in selection(), far in any::<bool>()) {
        let mut space = recipe.space(&dims);
        if far {
            // Indices that need eight bytes; the selection may lie outside its extent.
            space = space.moved(&vec![1 << 40; dims.len()]).unwrap();
        }
        let smallest = space.encode(Form::Smallest).unwrap();
        prop_assert_eq!(&Space::decode(&smallest).unwrap(), &space);
        for low in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200] {
            let bytes = space.encode(low).unwrap();
            prop_assert!(smallest.len() <= bytes.len());
            let again = Space::decode(&bytes).unwrap();
            prop_assert_eq!(&again, &space, "{:?}", low);
            for cut in 0..bytes.len() {
                prop_assert!(Space::decode(&bytes[..cut]).is_err());
            }
        }
    }

    #[test]
    fn decoding_noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>(),
                                   to in any::<u8>(), (dims, recipe) in selection()) {
        let _ = Space::decode(&bytes);
        let mut bytes = recipe.space(&dims).encode(LibVersion::V112).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = to;
        let _ = Space::decode(&bytes);
    }
}

#[test]
fn unlimited_selections_are_clipped_and_encoded() {
    let mut space = Space::with_max(&[7, 5], &[None, Some(5)]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(1, 3, UNLIMITED, 2), Slab::block(0, 2)]).unwrap();
    assert_eq!(space.npoints(), UNLIMITED);
    assert!(space.runs(1).is_err());
    let rows: Vec<u64> = coords_of(&space.clip_unlimited().unwrap()).iter().map(|coords| coords[0]).collect();
    assert_eq!(rows, [1, 1, 2, 2, 4, 4, 5, 5]);
    for low in [LibVersion::Earliest, LibVersion::V110, LibVersion::V112] {
        assert_eq!(Space::decode(&space.encode(low).unwrap()).unwrap(), space);
    }
}

#[test]
fn impossible_patterns_are_refused_with_a_reason() {
    let mut space = Space::simple(&[10, 10]).unwrap();
    for (slabs, why) in [
        (vec![Slab::block(0, 1)], "1 dimensions"),
        (vec![Slab::new(0, 0, 1, 1), Slab::block(0, 1)], "stride of zero"),
        (vec![Slab::new(0, 2, 2, 3), Slab::block(0, 1)], "overlap"),
        (vec![Slab::new(5, 1 << 60, 1 << 60, 1), Slab::block(0, 1)], "64 bits"),
        (vec![Slab::new(0, 1, UNLIMITED, 1), Slab::new(0, 1, UNLIMITED, 1)], "second dimension"),
    ] {
        let message = space.select_hyperslab(Op::Or, &slabs).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(space, Space::simple(&[10, 10]).unwrap(), "a refused pattern leaves the selection as it was");
}

#[test]
fn patterns_of_more_ranges_than_memory_are_refused_not_expanded() {
    let mut space = Space::simple(&[1 << 50]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(0, 2, 1 << 49, 1)]).unwrap();
    let before = space.clone();
    assert!(space.select_hyperslab(Op::Xor, &[Slab::block(7, 100)]).is_err());
    assert_eq!(space, before);
    space.select_hyperslab(Op::And, &[Slab::block(7, 100)]).unwrap();
    assert_eq!(space.npoints(), 50);
}

#[test]
fn cost_follows_structure_not_elements() {
    // Two patterns over 10^18 elements meet in a moment.
    let side = 1_000_000_000;
    let mut space = Space::simple(&[side, side]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(0, side / 100, 100, 1), Slab::block(0, side)]).unwrap();
    space.select_hyperslab(Op::Xor, &[Slab::block(0, side), Slab::new(0, side / 100, 100, 1)]).unwrap();
    assert_eq!(space.npoints(), 2 * 100 * (side - 100));
    // 32 dimensions, a pattern in each.
    let mut deep = Space::simple(&[4; 32]).unwrap();
    assert_eq!(deep.npoints(), UNLIMITED, "64 bits do not count 4^32 elements");
    deep.select_hyperslab(Op::Set, &[Slab::new(0, 3, 2, 1); 32]).unwrap();
    deep.select_hyperslab(Op::Xor, &[Slab::block(1, 1); 32]).unwrap();
    assert_eq!(deep.npoints(), (1 << 32) + 1);
    let mut deep = Space::simple(&[3; 32]).unwrap();
    deep.select_hyperslab(Op::Set, &[Slab::new(0, 2, 2, 1); 32]).unwrap();
    deep.select_hyperslab(Op::Xor, &[Slab::block(1, 1); 32]).unwrap();
    assert_eq!(deep.npoints(), (1 << 32) + 1);
    assert_eq!(deep.nblocks(), (1 << 32) + 1);
}
