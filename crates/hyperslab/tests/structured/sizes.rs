//! What sparse chunks take in the file beside dense ones with the same compressor: the rows of the format proposal, and random places that are fewer and more.
//!
//! `--nocapture` prints the table of docs/structured-chunks.md.

use fastrand::Rng;
use hyperslab::{Dataset, space::Space};

use super::file;

/// Images of bytes, each one chunk.
const SIDE: u64 = 1024;

/// Which elements are defined, by rising number.
fn places(kind: &str, random: &mut Rng) -> Vec<u64> {
    let all = SIDE * SIDE;
    let scattered = |part: f64, random: &mut Rng| (0..all).filter(|_| random.f64() < part).collect();
    match kind {
        "rectangle" => (0..324).flat_map(|row| (0..324).map(move |column| (row + 300) * SIDE + column + 400)).collect(),
        "a run in each row" => {
            let mut runs = Vec::new();
            for row in 0..SIDE {
                let first = row * SIDE + random.u64(0..SIDE - 102);
                runs.extend(first..first + 102);
            }
            runs
        }
        "0.1 % random" => scattered(0.001, random),
        "1 % random" => scattered(0.01, random),
        "10 % random" => scattered(0.1, random),
        _ => scattered(0.5, random),
    }
}

/// The stored bytes of a dataset with these elements.
fn stored(places: &[u64], values: &[u8], sparse: bool) -> u64 {
    let file = file();
    let new = file.root().unwrap().new_dataset::<u8>().shape([SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(9);
    let dataset: Dataset = if sparse { new.sparse() } else { new }.create("a").unwrap();
    let mut selection = Space::simple(&[SIDE, SIDE]).unwrap();
    selection.select_row_major(places.iter().map(|place| *place..place + 1)).unwrap();
    dataset.write_selection(&selection, values).unwrap();
    dataset.evict().unwrap();
    assert_eq!(dataset.read_selection::<u8>(&selection).unwrap(), values);
    dataset.stored_size().unwrap().bytes
}

#[test]
fn sparse_chunks_are_smaller_than_dense_ones_in_every_row() {
    let mut random = Rng::with_seed(3);
    println!("| places | values | dense, gzip 9 | sparse, gzip 9 | places alone |\n|---|---|---|---|---|");
    for kind in ["10 % random", "rectangle", "a run in each row", "0.1 % random", "1 % random", "50 % random"] {
        let places = places(kind, &mut random);
        for compressible in [false, true] {
            let value = |nth: usize| if compressible { nth as u8 } else { random.u8(1..) };
            let values: Vec<u8> = (0..places.len()).map(value).collect();
            let (dense, sparse) = (stored(&places, &values, false), stored(&places, &values, true));
            let alone = stored(&places, &vec![1; places.len()], true);
            let name = if compressible { "counter" } else { "random" };
            println!("| {kind} | {name} | {dense} | {sparse} | {alone} |");
            assert!(sparse < dense, "{kind}, {name}: {sparse} bytes where dense chunks have {dense}");
        }
    }
}
