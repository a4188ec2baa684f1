//! The far ends: 64-bit numbers, many dimensions, shared trees, long masks.

use std::time::{Duration, Instant};

use hyperslab_space::{Block, Detail, Error, Form, Grid, Op, Slab, Space, UNLIMITED};

const FAR: u64 = 1 << 63;

/// A tree with two nodes per dimension, each reached by 2^dimensions ways.
fn tangled(dims: usize) -> Space {
    let mut space = Space::simple(&vec![16; dims]).unwrap();
    space.select_none();
    for dim in 0..dims {
        let slabs: Vec<Slab> =
            (0..dims).map(|other| if other == dim { Slab::new(0, 4, 4, 1) } else { Slab::block(0, 15) }).collect();
        space.select_hyperslab(Op::Xor, &slabs).unwrap();
    }
    space
}

pub fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    assert!(begin.elapsed() < Duration::from_secs(5), "{what} took {:?}", begin.elapsed());
    result
}

#[test]
fn shared_nodes_are_not_walked_again_and_again() {
    let (left, right) = (tangled(12), tangled(12));
    soon("comparison", || assert_eq!(left, right));
    soon("same shape", || assert!(left.same_shape(&right).unwrap()));
    let (mut low, mut high) = (vec![0; 12], vec![14; 12]);
    (low[11], high[11]) = (15, 15);
    soon("intersection", || assert!(!left.intersects_block(&low, &high).unwrap()));
    let mut corner = left.clone();
    corner.select_hyperslab(Op::Set, &[Slab::block(15, 1); 12]).unwrap();
    soon("projection", || assert_eq!(left.project_intersection(&left, &corner).unwrap().npoints(), 0));
}

#[test]
fn projection_of_patterns_does_not_walk_them() {
    let whole = Space::simple(&[1 << 40, 2]).unwrap();
    let mut column = whole.clone();
    column.select_hyperslab(Op::Set, &[Slab::block(0, 1 << 40), Slab::block(0, 1)]).unwrap();
    let part = soon("projection", || whole.project_intersection(&whole, &column).unwrap());
    assert_eq!(part, column);
    // What has no pattern is refused before it fills the memory.
    let line = Space::simple(&[2 << 40]).unwrap();
    assert!(matches!(whole.project_intersection(&line, &column), Err(Error::TooComplex(_))));
}

#[test]
fn the_first_piece_does_not_wait_for_the_last() {
    let mut space = Space::simple(&[1 << 40]).unwrap();
    space.select_hyperslab(Op::NotB, &[Slab::block(5, 1)]).unwrap();
    space.select_hyperslab(Op::NotB, &[Slab::block(9, 2)]).unwrap();
    let memory = Space::simple(&[(1 << 40) - 3]).unwrap();
    let grid = Grid::new(&[1]).unwrap();
    let pieces: Vec<_> =
        soon("cutting", || space.pieces(&grid, &memory).unwrap().take(8).map(Result::unwrap).collect());
    let chunks: Vec<u64> = pieces.iter().map(|piece| piece.chunk[0]).collect();
    assert_eq!(chunks, [0, 1, 2, 3, 4, 6, 7, 8]);
}

#[test]
fn masks_grow_at_the_cost_of_what_is_added() {
    let mut line = Space::simple(&[1 << 40]).unwrap();
    line.select_none();
    let mut rows = Space::simple(&[1 << 40, 100]).unwrap();
    rows.select_none();
    soon("growing", || {
        for nth in 0..20_000 {
            line.select_hyperslab(Op::Or, &[Slab::block(nth * nth + 3 * nth, 1)]).unwrap();
            rows.select_hyperslab(Op::Or, &[Slab::block(3 * nth, 1), Slab::block(10, 5)]).unwrap();
        }
    });
    assert_eq!(line.npoints(), 20_000);
    assert_eq!(rows.regular().unwrap(), [Slab::new(0, 3, 20_000, 1), Slab::block(10, 5)]);
}

#[test]
fn numbers_near_the_end_of_64_bits() {
    let mut space = Space::simple(&[u64::MAX - 1]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(0, FAR + 1, UNLIMITED, FAR)]).unwrap();
    assert_eq!(space.clip_unlimited().unwrap().npoints(), u64::MAX - 2);

    let block = Block { start: [1].as_slice().into(), end: [u64::MAX].as_slice().into() };
    assert!(space.select_blocks(Op::Set, &[block]).is_err());
    assert!(Space::simple(&[u64::MAX]).is_err());

    let mut wide = Space::simple(&[1 << 32, 1 << 31]).unwrap();
    wide.select_hyperslab(Op::Set, &[Slab::new(0, 2, 1 << 31, 1), Slab::new(0, 2, 1 << 30, 1)]).unwrap();
    assert_eq!(Space::decode(&wide.encode(Form::Smallest).unwrap()).unwrap(), wide);

    space.select_points(&[1, FAR + 1]).unwrap();
    let numbers: Vec<_> = space.segments::<()>(1, Detail::Repeats).unwrap().map(|segment| segment.numbers()).collect();
    assert_eq!(numbers, [[1, FAR, 2, 1, 1]]);

    space.select_none();
    for start in [0, FAR, FAR + 2] {
        space.select_hyperslab(Op::Or, &[Slab::block(start, 1)]).unwrap();
    }
    assert_eq!(space.segments::<()>(1, Detail::Repeats).unwrap().count(), 2);
}

#[test]
fn operands_must_fit() {
    let mut plane = Space::simple(&[10, 10]).unwrap();
    let line = {
        let mut line = Space::simple(&[10]).unwrap();
        line.select_hyperslab(Op::Set, &[Slab::block(2, 3)]).unwrap();
        line
    };
    assert!(matches!(plane.select(Op::Or, line.selection()), Err(Error::RankMismatch { .. })));
    assert_eq!(plane, Space::simple(&[10, 10]).unwrap());

    let (all, empty) = (Space::simple(&[10]).unwrap(), Space::simple(&[0]).unwrap());
    assert_eq!(all.combine(Op::And, &empty).unwrap().npoints(), 0);
    assert_eq!(Space::scalar().combine(Op::And, &Space::null()).unwrap().npoints(), 0);
}

#[test]
fn what_is_kept_with_a_pattern_comes_back_wherever_it_stands() {
    let mut space = Space::simple(&[20, 60]).unwrap();
    space.select_none();
    for row in [0, 5, 11] {
        space.select_hyperslab(Op::Or, &[Slab::block(row, 1), Slab::block(3, 4)]).unwrap();
        space.select_hyperslab(Op::Or, &[Slab::block(row, 1), Slab::block(20, 2)]).unwrap();
    }
    let mut rows = space.segments::<u8>(1, Detail::Single).unwrap();
    let first = rows.next().unwrap();
    rows.keep(&first, 7);
    while let Some(segment) = rows.next() {
        assert_eq!(rows.kept(&segment), Some(7));
    }
}
