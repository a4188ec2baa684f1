//! Datasets of which few chunks were ever written: selections and points of them against an array in memory.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.
//! `$HYPERSLAB_CASES` and `$HYPERSLAB_SEED` change how much is tried.

use hyperslab_workshop::{cases, setting};
use std::{fs, path::Path, process::Command, time::Instant};

use fastrand::Rng;
use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, File};
use serde_json::Value;

/// Reading chunk by chunk would take far longer.
const SECONDS: u64 = 10;

/// A dataset, and all of its values made from what was written.
struct Case {
    name: String,
    dataset: Dataset,
    values: Vec<i32>,
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The datasets with names that are wanted; none without Python.
fn made(test: &str, wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let Some(python) = hyperslab_workshop::python() else { return Vec::new() };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sparse.py");
    let seed = setting("HYPERSLAB_SEED", 1).to_string();
    let output = Command::new(python).arg(script).arg(&path).arg(seed).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let paths = ["earliest", "latest"].map(|libver| format!("{}-{libver}.h5", path.display()));
    let files: Vec<File> = paths.iter().map(|path| File::open(path).unwrap()).collect();
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    let case = |one: &Value| {
        let file = &files[usize::from(name(one).starts_with("latest"))];
        let dataset = file.dataset(name(one)).unwrap();
        let values = naive(&dataset.shape(), one);
        Case { name: name(one), dataset, values }
    };
    let cases = written.iter().filter(|one| wanted(&name(one))).map(case).collect();
    for path in paths {
        // An open file stays readable; where it does not, it is left behind.
        let _ = fs::remove_file(path);
    }
    cases
}

fn naive(dims: &[u64], written: &Value) -> Vec<i32> {
    let count = dims.iter().product::<u64>() as usize;
    let mut values = vec![written["fill"].as_i64().unwrap() as i32; count];
    let chunk = numbers(&written["chunk"]);
    for place in written["places"].as_array().unwrap() {
        let mut elements = vec![0u64];
        for (nth, dim) in numbers(place).iter().zip(&chunk).map(|(nth, size)| (nth * size, size)).zip(dims) {
            let (first, size) = nth;
            let along = first..(first + size).min(*dim);
            elements = elements.iter().flat_map(|at| along.clone().map(move |index| at * dim + index)).collect();
        }
        for element in elements {
            values[element as usize] = element as i32;
        }
    }
    values
}

fn linear(dims: &[u64], coords: &[u64]) -> usize {
    dims.iter().zip(coords).fold(0, |sum, (dim, index)| sum * dim + index) as usize
}

fn any_slabs(rng: &mut Rng, dims: &[u64]) -> Vec<Slab> {
    let side = |&dim: &u64| {
        let (start, stride) = (rng.u64(..dim.min(20)), rng.choice([1, 1, 1, 2, 3]).unwrap());
        Slab::new(start, stride, (dim - start).div_ceil(stride) - rng.u64(..3), 1)
    };
    dims.iter().map(side).collect()
}

fn any_selection(rng: &mut Rng, dims: &[u64]) -> Space {
    let mut space = Space::simple(dims).unwrap();
    match rng.u8(..4) {
        0 => {}
        1 => space.select_hyperslab(Op::Set, &any_slabs(rng, dims)).unwrap(),
        2 => {
            space.select_hyperslab(Op::Set, &any_slabs(rng, dims)).unwrap();
            space.select_hyperslab(Op::Xor, &any_slabs(rng, dims)).unwrap();
        }
        _ => {
            let points =
                (0..rng.usize(1..500)).flat_map(|_| dims.iter().map(|dim| rng.u64(..*dim)).collect::<Vec<_>>());
            let points: Vec<u64> = points.collect();
            space.select_points(&points).unwrap();
        }
    }
    space
}

#[test]
fn selections_and_points_equal_an_array() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    for Case { name, dataset, values } in made("sparse", |name| !name.ends_with("huge")) {
        let dims = dataset.shape().to_vec();
        for _ in 0..cases("HYPERSLAB_CASES", 12) {
            let space = any_selection(&mut rng, &dims);
            let expected: Vec<i32> = space.coords().unwrap().map(|coords| values[linear(&dims, &coords)]).collect();
            let found = dataset.read_selection::<i32>(&space).unwrap();
            assert!(found == expected, "{name}: {space:?}");
        }
        // Points of what was written, so that not all are the fill value.
        let stored = (0..values.len()).filter(|&at| values[at] == at as i32).collect::<Vec<_>>();
        let some = (0..300).map(|_| if rng.bool() { *rng.choice(&stored).unwrap() } else { rng.usize(..values.len()) });
        let some: Vec<usize> = some.collect();
        let mut space = Space::simple(&dims).unwrap();
        let coords = |at: &usize| match dims.as_slice() {
            [_, width] => vec![*at as u64 / width, *at as u64 % width],
            _ => vec![*at as u64],
        };
        space.select_points(&some.iter().flat_map(coords).collect::<Vec<_>>()).unwrap();
        let expected: Vec<i32> = some.iter().map(|&at| values[at]).collect();
        assert!(dataset.read_selection::<i32>(&space).unwrap() == expected, "{name}: {some:?}");
    }
}

#[test]
fn a_hundred_million_chunks_that_are_not_there_cost_little() {
    for Case { name, dataset, values } in made("huge", |name| name.ends_with("huge")) {
        let start = Instant::now();
        let found = dataset.read::<i32>().unwrap();
        let seconds = start.elapsed();
        println!("{name}: {:.2} s", seconds.as_secs_f64());
        assert!(found == values, "{name}");
        assert!(seconds.as_secs() < SECONDS, "{name} takes {seconds:?}");
    }
}
