//! Requests that are cut into strips: each value once, with its place, and no strip larger than it may be.

use std::collections::BTreeMap;

use fastrand::Rng;
use hyperslab_chunk::{Error, StripCut, for_each_strip};
use hyperslab_space::{Op, Slab, Space};

/// The elements of a selection in its order, as ordinals of the extent.
fn ordinals(space: &Space) -> Vec<u64> {
    let dims = space.dims().to_vec();
    let ordinal = |coords: &[u64]| coords.iter().zip(&dims).fold(0, |ordinal, (index, size)| ordinal * size + index);
    space.coords().unwrap().map(|coords| ordinal(&coords)).collect()
}

/// What is selected, as pairs of element and place in memory; and how many values each strip has.
fn strips(selection: &Space, cut: &StripCut) -> (Vec<(u64, u64)>, Vec<u64>) {
    let memory = Space::simple(&[selection.npoints()]).unwrap();
    let (mut pairs, mut counts) = (Vec::new(), Vec::new());
    for_each_strip::<Error>(selection, &memory, Some(cut), &mut |part, memory| {
        counts.push(part.npoints());
        pairs.extend(ordinals(part).into_iter().zip(ordinals(memory)));
        Ok(())
    })
    .unwrap();
    (pairs, counts)
}

/// The most selected values that one unit has.
fn most_of_a_unit(selection: &Space, unit: &[u64]) -> u64 {
    let mut counts: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for coords in selection.coords().unwrap() {
        *counts.entry(coords.iter().zip(unit).map(|(index, size)| index / size).collect()).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

fn check(selection: &Space, unit: &[u64], most: u64) {
    let (mut pairs, counts) = strips(selection, &StripCut::to_fit(4 * most, unit.to_vec(), 4));
    let mut expected: Vec<(u64, u64)> = ordinals(selection).into_iter().zip(0..).collect();
    pairs.sort_unstable();
    expected.sort_unstable();
    assert_eq!(pairs, expected);
    let bound = most.max(most_of_a_unit(selection, unit));
    assert!(counts.iter().all(|count| (1..=bound).contains(count)), "{counts:?} with {bound} at most");
}

fn times() -> u64 {
    hyperslab_workshop::cases("HYPERSLAB_STRIPS", 300)
}

/// Blocks in one dimension, next to each other or apart.
fn slab(rng: &mut Rng, side: u64) -> Slab {
    let start = rng.u64(..side);
    let block = rng.u64(1..20).min(side - start);
    let stride = block * rng.u64(1..4);
    Slab { start, stride, count: ((side - start) / stride).clamp(1, 3), block }
}

#[test]
fn blocks_of_any_density_are_cut_into_strips() {
    for seed in 0..times() {
        let mut rng = Rng::with_seed(seed);
        let mut selection = Space::simple(&[200, 200]).unwrap();
        selection.select_none();
        for _ in 0..rng.u32(1..5) {
            let slabs = [slab(&mut rng, 200), slab(&mut rng, 200)];
            selection.select_hyperslab(Op::Or, &slabs).unwrap();
        }
        check(&selection, &[rng.u64(1..40), rng.u64(1..40)], rng.u64(1..300));
    }
}

#[test]
fn points_in_any_order_are_cut_into_strips() {
    for seed in 0..times() {
        let mut rng = Rng::with_seed(seed);
        let mut selection = Space::simple(&[5000, 50]).unwrap();
        let mut points: Vec<u64> = (0..rng.u32(1..200)).flat_map(|_| [rng.u64(..50), rng.u64(..50)]).collect();
        // One far away, and one that is there again and again.
        points.extend([rng.u64(50..5000), 7, 3, 3, 3, 3, 3, 3]);
        selection.select_points(&points).unwrap();
        check(&selection, &[1, 1], rng.u64(1..40));
    }
}

/// A dense block of 64 MiB and one point at the other end of the dataset.
#[test]
fn a_strip_has_a_few_mib_however_uneven_the_selection_is() {
    for ordered in [false, true] {
        let mut selection = Space::simple(&[1 << 20, 1 << 12]).unwrap();
        selection.select_hyperslab(Op::Set, &[Slab::block(3, 1 << 11), Slab::block(0, 1 << 12)]).unwrap();
        selection.select_hyperslab(Op::Or, &[Slab::block((1 << 20) - 1, 1), Slab::block(5, 1)]).unwrap();
        let cut = StripCut::of(None, 8, &selection, ordered).unwrap();
        let memory = Space::simple(&[selection.npoints()]).unwrap();
        let (mut largest, mut count, mut next) = (0, 0, 0);
        for_each_strip::<Error>(&selection, &memory, Some(&cut), &mut |part, memory| {
            (largest, count) = (part.npoints().max(largest), count + part.npoints());
            let (low, high) = memory.bounds().unwrap();
            // Strips that keep the order have the values one after the other.
            assert!(!ordered || low[0] == next && high[0] + 1 == next + part.npoints());
            next = high[0] + 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, selection.npoints());
        // A strip is 4 MiB.
        assert!(largest * 8 <= 4 << 20, "{largest} values of 8 bytes");
    }
}
