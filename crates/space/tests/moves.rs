//! Strips, and moves from one selection to another, against element by element.

use hyperslab_space::{Moves, Op, Slab, Space, copy};
use proptest::prelude::*;

use crate::twin::*;

/// A selection of so many elements, of one kind or another.
fn of_count(count: u64, kind: usize) -> Space {
    let mut space = Space::simple(&[2, 3 * count + 1, 2]).unwrap();
    match kind {
        0 => return Space::simple(&[count]).unwrap(),
        1 => {
            space.select_hyperslab(Op::Set, &[Slab::block(1, 1), Slab::new(0, 3, count, 1), Slab::block(0, 1)]).unwrap()
        }
        2 => {
            let places = (0..count).rev().flat_map(|place| [0, place * 3, 1]).collect::<Vec<_>>();
            space.select_points(&places).unwrap();
        }
        // In pairs: runs of another length than those of most selections.
        _ if count.is_multiple_of(2) => {
            space
                .select_hyperslab(Op::Set, &[Slab::block(0, 1), Slab::new(1, 2, count / 2, 1), Slab::block(0, 2)])
                .unwrap();
        }
        _ => space.select_hyperslab(Op::Set, &[Slab::block(0, 1), Slab::block(2, count), Slab::block(0, 1)]).unwrap(),
    }
    space
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strips((dims, recipe) in selection(), size in 1..6u64) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        let found: Vec<u64> = space.strips(size).unwrap().flat_map(|strip| {
            assert!(strip.end() <= dims.iter().product::<u64>() * size);
            (0..strip.count).flat_map(move |nth| (0..strip.len).map(move |byte| strip.offset + nth * strip.step + byte))
        }).collect();
        let naive: Vec<u64> = twin.iter().flat_map(|coords| (0..size).map(|byte| linear(&dims, coords) * size + byte)).collect();
        prop_assert_eq!(found, naive);
    }

    #[test]
    fn copies((dims, recipe) in selection(), size in prop::sample::select(vec![1u64, 2, 3, 4, 8, 16, 20]), kind in 0..4usize, back in any::<bool>()) {
        let (one, other) = (recipe.space(&dims), of_count(recipe.coords(&dims).len() as u64, kind));
        let (source, target) = if back { (other, one) } else { (one, other) };
        let length = |space: &Space| (space.dims().iter().product::<u64>() * size) as usize;
        let from: Vec<u8> = (0..length(&source)).map(|byte| (byte % 251) as u8 + 1).collect();
        let mut naive = vec![0; length(&target)];
        for (at, place) in coords_of(&source).into_iter().zip(coords_of(&target)) {
            let (at, place) = (linear(source.dims(), &at) * size, linear(target.dims(), &place) * size);
            for byte in 0..size {
                naive[(place + byte) as usize] = from[(at + byte) as usize];
            }
        }
        let mut to = vec![0; length(&target)];
        prop_assert!(copy(&from, &source, &mut to, &target, size).unwrap());
        prop_assert_eq!(to, naive);
        let bytes: u64 = Moves::new(&source, &target, size).unwrap().map(|one| one.len * one.count).sum();
        prop_assert_eq!(bytes, source.npoints() * size);
    }
}

#[test]
fn a_selection_over_its_buffer_is_refused() {
    let (space, mut to) = (Space::simple(&[10]).unwrap(), [0; 10]);
    assert!(copy(&[1; 10], &space, &mut to, &space, 1).unwrap());
    assert!(!copy(&[1; 9], &space, &mut to, &space, 1).unwrap());
    assert!(!copy(&[1; 10], &space, &mut to[..9], &space, 1).unwrap());
    assert!(copy(&[1; 10], &space, &mut to, &Space::simple(&[9]).unwrap(), 1).is_err());
}
