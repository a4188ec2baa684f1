//! Selections of many small runs from a local file, read over their gaps, against a loop over elements.
#![cfg(unix)]

use hyperslab_driver::{Driver, Local, SelectionPair, Transfer, Why};
use hyperslab_space::{Op, Slab, Space};
use proptest::prelude::*;

use crate::common::Scratch;

/// Several windows, and work for several threads.
const FILE: usize = 6 << 20;
const PAIRS: usize = 3;

/// What is taken from the file: rows with columns at equal distances.
#[derive(Clone, Debug)]
struct Taken {
    dims: [u64; 2],
    rows: Slab,
    columns: Slab,
    /// Behind where the pair may begin.
    offset: u64,
}

fn taken(element: u64) -> impl Strategy<Value = Taken> {
    let sizes = (prop_oneof![1..40u64, 300..900u64], prop_oneof![8..60u64, 1000..2000u64]);
    (sizes, (1..4u64, 1..5u64, 1..4u64), 0..3u64, 0..1000u64).prop_map(
        move |((rows, columns), (block, gap, step), start, offset)| {
            // All pairs fit side by side.
            let columns = columns.min(((FILE / PAIRS) as u64 - 1000) / element / rows);
            let count = (columns - start - block) / (block + gap) + 1;
            let (across, along) =
                (Slab::new(0, step, rows.div_ceil(step), 1), Slab::new(start, block + gap, count, block));
            Taken { dims: [rows, columns], rows: across, columns: along, offset }
        },
    )
}

fn case() -> impl Strategy<Value = (u64, Vec<Taken>)> {
    let element = prop::sample::select(vec![1u64, 2, 4, 8]);
    element.prop_flat_map(|element| (Just(element), prop::collection::vec(taken(element), 1..=PAIRS)))
}

fn selected(dims: &[u64], slabs: [Slab; 2]) -> Space {
    let mut space = Space::simple(dims).unwrap();
    space.select_hyperslab(Op::Set, &slabs).unwrap();
    space
}

/// Where the selected elements begin, in bytes.
fn places(space: &Space, element: u64) -> Vec<usize> {
    let dims = space.dims().to_vec();
    let linear = |at: &[u64]| at.iter().zip(&dims).fold(0, |n, (x, dim)| n * dim + x);
    space.coords().unwrap().map(|at| (linear(&at) * element) as usize).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// All pairs go to one array, each to rows of its own, with or without gaps between its elements.
    #[test]
    fn small_runs_equal_a_loop((element, all) in case(), gap in 0..2u64) {
        let scratch = Scratch::new("gather");
        let local = Local::options().create(true).truncate(true).open(scratch.path("data.bin")).unwrap();
        let bytes: Vec<u8> = (0..FILE).map(|n| (n * 7 + n / 251) as u8).collect();
        local.write_at(0, &bytes, &Transfer::default()).unwrap();

        let width = all.iter().map(|one| one.columns.count * (one.columns.block + gap)).max().unwrap();
        let height: u64 = all.iter().map(|one| one.rows.count * (1 + gap)).sum();
        let mut row = 0;
        let mut spaces = Vec::new();
        for (nth, one) in all.iter().enumerate() {
            let rows = Slab::new(row, 1 + gap, one.rows.count, 1);
            let columns = Slab::new(0, one.columns.block + gap, one.columns.count, one.columns.block);
            row += one.rows.count * (1 + gap);
            let offset = (nth * FILE / PAIRS) as u64 + one.offset;
            spaces.push((selected(&one.dims, [one.rows, one.columns]), selected(&[height, width], [rows, columns]), offset));
        }

        let mut expected = vec![0xaa; (height * width * element) as usize];
        let mut end = 0;
        for (file, memory, offset) in &spaces {
            for (from, to) in places(file, element).into_iter().zip(places(memory, element)) {
                let (from, size) = (from + *offset as usize, element as usize);
                expected[to..to + size].copy_from_slice(&bytes[from..from + size]);
                end = end.max(from + size);
            }
        }
        let pair = |(file, memory, offset)| SelectionPair { memory, file, offset, element_size: element };
        let pairs: Vec<_> = spaces.iter().map(|(file, memory, offset)| pair((file, memory, *offset))).collect();
        let mut found = vec![0xaa; expected.len()];
        local.read_selection(&pairs, &mut [&mut found], &Transfer::default()).unwrap();
        prop_assert!(found == expected);

        // A file that ends one byte too early is an error.
        local.set_len(end as u64 - 1, &Transfer::default()).unwrap();
        let error = local.read_selection(&pairs, &mut [&mut found], &Transfer::default()).unwrap_err();
        prop_assert!(matches!(error.why, Why::PastEnd { .. }), "{error}");
    }
}
