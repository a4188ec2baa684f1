//! One file, eight threads: all of them read what one alone reads.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.
//! `cargo xtask tsan` runs it under the thread sanitizer. `$HYPERSLAB_READS` says how often each thread reads.

use std::{path::Path, process::Command, thread};

use fastrand::Rng;
use hyperslab::{
    Dataset, File, Group, Node,
    dtype::Arena,
    space::{Op, Slab, Space},
};

const THREADS: u64 = 8;
const ROWS: u64 = 300;
const COLUMNS: u64 = 200;

fn text(number: u64) -> String {
    format!("text {number}").repeat(number as usize % 7)
}

/// A selection of rows and columns; sometimes two of them.
fn selection(rng: &mut Rng) -> Space {
    let mut space = Space::simple(&[ROWS, COLUMNS]).unwrap();
    let slab = |rng: &mut Rng, size: u64| {
        let (start, stride) = (rng.u64(..size), rng.u64(1..40));
        Slab::new(start, stride, rng.u64(1..=(size - start).div_ceil(stride)), 1)
    };
    let slabs = [slab(rng, ROWS), slab(rng, COLUMNS)];
    space.select_hyperslab(Op::Set, &slabs).unwrap();
    if rng.bool() {
        let slabs = [slab(rng, ROWS), slab(rng, COLUMNS)];
        space.select_hyperslab(Op::Or, &slabs).unwrap();
    }
    space
}

fn numbers(dataset: &Dataset, rng: &mut Rng) {
    let space = selection(rng);
    let expected: Vec<u8> =
        space.coords().unwrap().flat_map(|place| ((place[0] * COLUMNS + place[1]) as i32).to_le_bytes()).collect();
    assert!(dataset.read_stored_selection(&space).unwrap() == expected, "{space:?}");
}

fn texts(dataset: &Dataset, rng: &mut Rng) {
    let mut space = dataset.space();
    let (start, count) = (rng.u64(..300), rng.u64(1..100));
    space.select_hyperslab(Op::Set, &[Slab::block(start, count)]).unwrap();
    let datatype = dataset.datatype().in_memory().unwrap();
    let mut buf = vec![0; count as usize * datatype.size()];
    let mut arena = Arena::default();
    let places = Space::simple(&[count]).unwrap();
    dataset.read_converted(&space, &datatype, &places, &mut buf, &mut arena).unwrap();
    for (number, reference) in (start..).zip(buf.chunks_exact(datatype.size())) {
        let found = arena.get(reference, 1).unwrap().unwrap_or_default();
        assert_eq!(found, text(number).as_bytes());
    }
}

fn names(group: &Group, node: &Node, rng: &mut Rng) {
    let number = rng.u64(..150);
    assert!(group.link(format!("link {number}")).unwrap().is_some());
    assert!(group.link(format!("link {}", number + 150)).unwrap().is_none());
    match rng.u8(..4) {
        0 => assert_eq!(group.links().unwrap().len(), 150),
        1 => {
            let attributes = node.attributes().unwrap();
            assert_eq!(attributes.len(), 60);
            let bytes: usize = attributes.into_iter().map(|attribute| attribute.unwrap().data.len()).sum();
            assert_eq!(bytes, 8 * (0..60).sum::<usize>());
        }
        _ => {}
    }
}

#[test]
fn eight_threads_read_what_one_reads() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads.h5");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/threads.py");
    assert!(Command::new(python).arg(script).arg(&path).status().unwrap().success());
    let reads = hyperslab_workshop::cases("HYPERSLAB_READS", 120);

    let file = File::open(&path).unwrap();
    // Some are opened once and shared, some by every thread: both must do.
    let shared = ["coded", "growing", "plain", "whole", "tree"].map(|name| file.dataset(name).unwrap());
    let all_texts = file.dataset("texts").unwrap();
    let dense = file.get("dense").unwrap();
    let Node::Group(group) = &dense else { panic!("a group") };
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (file, shared, all_texts, dense) = (&file, &shared, &all_texts, &dense);
            scope.spawn(move || {
                let mut rng = Rng::with_seed(seed);
                for _ in 0..reads {
                    let nth = rng.usize(..shared.len());
                    match rng.u8(..8) {
                        0 => numbers(
                            &file.dataset(["coded", "growing", "plain", "whole", "tree"][nth]).unwrap(),
                            &mut rng,
                        ),
                        1 => texts(&file.dataset("texts").unwrap(), &mut rng),
                        2..5 => numbers(&shared[nth], &mut rng),
                        5 | 6 => texts(all_texts, &mut rng),
                        _ => names(group, dense, &mut rng),
                    }
                }
            });
        }
    });
}
