//! Everything that depends on the order of elements: runs, segments, flattening, projection, cutting.

use hyperslab_space::{Detail, Grid, Kind, Op, Run, Segments, Slab, Space};
use proptest::prelude::*;

use crate::twin::*;

/// The bytes of a selection one by one, in order.
fn naive_bytes(dims: &[u64], coords: &[Vec<u64>], size: u64) -> Vec<u64> {
    coords.iter().flat_map(|coords| (0..size).map(move |byte| linear(dims, coords) * size + byte)).collect()
}

fn bytes(runs: &[Run]) -> Vec<u64> {
    runs.iter().flat_map(|run| run.offset..run.end()).collect()
}

fn expand(segments: Segments<'_, u32>, base: u64, out: &mut Vec<u64>) {
    let mut segments = segments;
    while let Some(segment) = segments.next() {
        for group in 0..segment.count {
            for copy in 0..segment.block {
                let at = base + (segment.start + group * segment.stride + copy) * segment.sub_size;
                match segments.enter(&segment) {
                    None => out.extend(at..at + segment.sub_size),
                    Some(below) => expand(below, at, out),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs((dims, recipe) in selection(), size in 1..6u64, max_runs in 1..5usize, max_elements in 1..9u64) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        let naive = naive_bytes(&dims, &twin, size);
        let runs: Vec<Run> = space.runs(size).unwrap().collect();
        prop_assert_eq!(bytes(&runs), &naive[..]);
        // Taking some first and the rest in one go gives the same.
        let mut walk = space.runs(size).unwrap();
        let mut some: Vec<Run> = walk.by_ref().take(max_runs).collect();
        walk.for_each(|run| some.push(run));
        prop_assert_eq!(&some, &runs);
        prop_assert!(runs.windows(2).all(|pair| pair[0].end() != pair[1].offset), "touching runs are merged");

        // In batches, with and without a limit on bytes, behind what is there already.
        for limit in [u64::MAX, max_elements * size + 1] {
            let mut walk = space.runs(size).unwrap();
            let mut all = vec![Run { offset: 0, len: 0 }];
            loop {
                let before = all.len();
                let got = walk.next_batch(&mut all, max_runs, limit);
                prop_assert_eq!(all.len() - before, got);
                prop_assert!(got <= max_runs);
                prop_assert!(limit == u64::MAX || all[before..].iter().map(|run| run.len).sum::<u64>() <= limit);
                prop_assert!(all[before..].iter().all(|run| run.len.is_multiple_of(size)));
                if got == 0 {
                    break;
                }
            }
            prop_assert_eq!(bytes(&all), &naive[..]);
        }
    }

    #[test]
    fn segments((dims, recipe) in selection(), size in 1..6u64) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        for detail in [Detail::Single, Detail::Repeats] {
            let mut out = Vec::new();
            expand(space.segments(size, detail).unwrap(), 0, &mut out);
            prop_assert_eq!(out, naive_bytes(&dims, &twin, size), "{:?}", detail);
        }
        let count = |detail| space.segments::<u32>(size, detail).unwrap().count();
        prop_assert!(count(Detail::Repeats) <= count(Detail::Single));
    }

    #[test]
    fn flattening((dims, recipe) in selection(), size in 1..6u64) {
        let (space, twin) = (recipe.space(&dims), recipe.coords(&dims));
        let flat = space.flatten(size).unwrap();
        let naive: Vec<Vec<u64>> = naive_bytes(&dims, &twin, size).into_iter().map(|byte| vec![byte]).collect();
        prop_assert_eq!(coords_of(&flat), naive);
    }

    #[test]
    fn projection((dims, source, intersect) in two_selections(), (dst_dims, target) in selection()) {
        let (src, picked) = (source.space(&dims), intersect.space(&dims));
        let elements = source.coords(&dims);
        // The destination holds as many elements as the source: cut or padded by a line of its own.
        let target = target.coords(&dst_dims);
        let (dst, there) = if target.len() == elements.len() && !target.is_empty() {
            let mut dst = Space::simple(&dst_dims).unwrap();
            dst.select_points(&target.concat()).unwrap();
            (dst, target)
        } else {
            let mut dst = Space::simple(&[3, elements.len() as u64 * 2 + 1]).unwrap();
            let slabs = [Slab::block(1, 1), Slab::new(1, 2, elements.len() as u64, 1)];
            dst.select_hyperslab(Op::Set, &slabs).unwrap();
            let there = coords_of(&dst);
            (dst, there)
        };
        let chosen = intersect.coords(&dims);
        let naive: Vec<_> = elements.iter().zip(&there).filter(|(coords, _)| chosen.contains(coords)).map(|(_, there)| there.clone()).collect();
        let result = src.project_intersection(&dst, &picked).unwrap();
        prop_assert_eq!(coords_of(&result), naive);
        prop_assert_eq!(result.dims(), dst.dims());
    }

    #[test]
    fn projection_between_hyperslabs((dims, source, intersect) in two_selections(), steps in prop::collection::vec((0..5usize, 0..12u64, 1..5u64), 0..4)) {
        let (src, picked) = (source.space(&dims), intersect.space(&dims));
        let elements = source.coords(&dims);
        // An irregular destination: a wide plane with holes, cut to the right number of elements.
        let mut plane = Space::simple(&[16, 600]).unwrap();
        for (op, start, len) in steps {
            plane.select_hyperslab(OPS[op], &[Slab::block(start, len), Slab::new(start, 7, 80, 3)]).unwrap();
        }
        let there: Vec<Vec<u64>> = plane.coords().unwrap().map(|coords| coords.to_vec()).take(elements.len()).collect();
        prop_assume!(there.len() == elements.len());
        let mut dst = Space::simple(&[16, 600]).unwrap();
        dst.select_points(&there.concat()).unwrap();
        let nothing = { let mut space = dst.clone(); space.select_none(); space };
        let dst = nothing.combine(Op::Or, &dst).unwrap();
        let chosen = intersect.coords(&dims);
        let naive: Vec<_> = elements.iter().zip(&there).filter(|(coords, _)| chosen.contains(coords)).map(|(_, there)| there.clone()).collect();
        let result = src.project_intersection(&dst, &picked).unwrap();
        prop_assert_eq!(coords_of(&result), naive);
    }

    #[test]
    fn cutting((dims, recipe) in selection(), chunk in prop::collection::vec(1..5u64, 4), memory_kind in 0..4usize) {
        let (file, twin) = (recipe.space(&dims), recipe.coords(&dims));
        let grid = Grid::new(&chunk[..dims.len()]).unwrap();
        let count = twin.len() as u64;
        let memory = match memory_kind {
            0 => Space::simple(&[count]).unwrap(),
            1 => {
                // The shape of the selection itself, where it has one.
                let shape: Vec<u64> = file.regular().map_or(vec![count], |slabs| slabs.iter().map(Slab::indices).collect());
                Space::simple(&shape).unwrap()
            }
            2 => {
                let mut memory = Space::simple(&[2, 3 * count + 1, 2]).unwrap();
                memory.select_hyperslab(Op::Set, &[Slab::block(1, 1), Slab::new(0, 3, count, 1), Slab::block(0, 1)]).unwrap();
                memory
            }
            _ => {
                let mut memory = Space::simple(&[count + 1]).unwrap();
                memory.select_points(&(0..count).rev().collect::<Vec<_>>()).unwrap();
                memory
            }
        };
        let there = coords_of(&memory);
        let pieces: Vec<_> = file.pieces(&grid, &memory).unwrap().map(Result::unwrap).collect();
        let mut same = file.pieces(&grid, &memory).unwrap();
        let batches: Vec<Vec<_>> = std::iter::repeat_with(|| same.batch(3).unwrap()).take_while(|batch| !batch.is_empty()).collect();
        prop_assert!(batches.iter().rev().skip(1).all(|batch| batch.len() == 3) && batches.concat() == pieces);
        let whole = file.pieces(&grid, &memory).unwrap().batch(usize::MAX).unwrap();
        prop_assert!(whole == pieces && whole.capacity() <= pieces.len().max(4) * 64, "room for {} of {}", whole.capacity(), pieces.len());
        prop_assert!(pieces.windows(2).all(|pair| pair[0].chunk < pair[1].chunk), "each chunk once, in order");
        let mut found = Vec::new();
        for piece in &pieces {
            prop_assert!(piece.file.npoints() > 0, "only chunks that are touched");
            prop_assert_eq!(piece.file.dims(), grid.chunk());
            prop_assert_eq!(piece.memory.dims(), memory.dims());
            piece.file.check_inside().unwrap();
            let whole = |coords: Vec<u64>| -> Vec<u64> {
                coords.iter().zip(piece.chunk.iter().zip(grid.chunk())).map(|(index, (nth, size))| nth * size + index).collect()
            };
            prop_assert_eq!(piece.file.npoints(), piece.memory.npoints());
            found.extend(coords_of(&piece.file).into_iter().map(whole).zip(coords_of(&piece.memory)));
        }
        let mut pairs: Vec<_> = twin.into_iter().zip(there).collect();
        found.sort();
        pairs.sort();
        prop_assert_eq!(found, pairs);
    }
}

/// The selection of the worked example: row 1 whole, row 2 columns 0–5, rows 4–5 columns 0–2 and 5–7.
fn worked_example() -> Space {
    let mut space = Space::simple(&[6, 10]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::block(1, 1), Slab::block(0, 10)]).unwrap();
    space.select_hyperslab(Op::Or, &[Slab::block(2, 1), Slab::block(0, 6)]).unwrap();
    space.select_hyperslab(Op::Or, &[Slab::block(4, 2), Slab::new(0, 5, 2, 3)]).unwrap();
    space
}

#[test]
fn the_documents_example_segment_by_segment() {
    let space = worked_example();
    let mut rows = space.segments::<&str>(4, Detail::Single).unwrap();

    let segment = rows.next().unwrap();
    assert_eq!(segment.numbers(), [1, 1, 1, 1, 40]);
    assert!(segment.is_whole());

    let segment = rows.next().unwrap();
    assert_eq!(segment.numbers(), [2, 1, 1, 1, 40]);
    let mut columns = rows.enter(&segment).unwrap();
    let below = columns.next().unwrap();
    assert_eq!(below.numbers(), [0, 1, 1, 6, 4]);
    assert!(below.is_whole());
    assert!(columns.next().is_none());

    let segment = rows.next().unwrap();
    assert_eq!(segment.numbers(), [4, 1, 1, 2, 40]);
    let mut columns = rows.enter(&segment).unwrap();
    let below = columns.next().unwrap();
    assert_eq!(below.numbers(), [0, 1, 1, 3, 4]);
    assert_eq!(columns.kept(&below), None);
    columns.keep(&below, "three elements");
    let below = columns.next().unwrap();
    assert_eq!(below.numbers(), [5, 1, 1, 3, 4]);
    assert_eq!(columns.kept(&below), Some("three elements"), "what was kept comes back with the same pattern");
    assert!(columns.next().is_none());
    assert!(rows.next().is_none());
}

#[test]
fn repetition_is_one_segment() {
    let space = worked_example();
    let rows = space.segments::<()>(4, Detail::Repeats).unwrap();
    let last = rows.clone().last().unwrap();
    assert_eq!(last.numbers(), [4, 1, 1, 2, 40]);
    let below: Vec<_> = rows.enter(&last).unwrap().map(|segment| segment.numbers()).collect();
    assert_eq!(below, [[0, 5, 2, 3, 4]]);
}

#[test]
fn far_points_and_scalars_have_runs_too() {
    assert_eq!(Space::scalar().runs(8).unwrap().collect::<Vec<_>>(), [Run { offset: 0, len: 8 }]);
    assert_eq!(Space::null().runs(8).unwrap().count(), 0);
    let mut space = Space::simple(&[1 << 40]).unwrap();
    space.select_points(&[(1 << 40) - 1, 0, 1]).unwrap();
    assert_eq!(space.kind(), Kind::Points);
    let runs: Vec<Run> = space.runs(8).unwrap().collect();
    assert_eq!(runs, [Run { offset: (8 << 40) - 8, len: 8 }, Run { offset: 0, len: 16 }]);
}
