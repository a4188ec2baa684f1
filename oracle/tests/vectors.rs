//! Encodings that libhdf5 1.14.5 made, byte for byte, if the shared test data is there.

use hyperslab_oracle::{hex, unhex};
use hyperslab_space::{LibVersion, Op, Slab, Space};
use std::path::{Path, PathBuf};

#[test]
fn the_shared_vectors_byte_for_byte() {
    let folder = std::env::var_os("HYPERSLAB_VECTORS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors"));
    let Ok(vectors) = std::fs::read_to_string(folder.join("selections.txt")) else {
        println!("skipped: no selections.txt in $HYPERSLAB_VECTORS or ../shared/vectors");
        return;
    };
    let mut compared = 0;
    for line in vectors.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, low, total, wire] = fields[..] else { panic!("not a vector: {line}") };
        let low = low_bound(low.strip_prefix("low=").unwrap());
        let ours = selection(name).encode(low).unwrap();
        assert_eq!(hex(&ours), wire, "{name} for {low:?}");
        assert_eq!(total.strip_prefix("total=").unwrap().parse(), Ok(ours.len()));
        assert_eq!(Space::decode(&unhex(wire)).unwrap(), selection(name), "{name} for {low:?}, decoded");
        compared += 1;
    }
    assert!(compared > 0, "selections.txt has no vectors");
}

fn low_bound(name: &str) -> LibVersion {
    match name {
        "earliest" => LibVersion::Earliest,
        "v18" => LibVersion::V18,
        "v110" => LibVersion::V110,
        "v112" => LibVersion::V112,
        "v114" => LibVersion::V114,
        "v200" => LibVersion::V200,
        other => panic!("unknown low bound {other}"),
    }
}

/// The selections that the head of the file describes.
fn selection(name: &str) -> Space {
    let dims: &[u64] = match name {
        "pointsbig_1d" => &[1 << 40],
        _ if name.ends_with("_1d") => &[20],
        _ => &[10, 10],
    };
    let mut space = Space::simple(dims).unwrap();
    let mut select = |op, slabs: &[Slab]| space.select_hyperslab(op, slabs).unwrap();
    match name {
        "all_1d" => space.select_all(),
        "none_1d" => space.select_none(),
        "points3_1d" => space.select_points(&[1, 7, 19]).unwrap(),
        "points2_2d" => space.select_points(&[5, 6, 0, 1]).unwrap(),
        "pointsbig_1d" => space.select_points(&[5, 1 << 35]).unwrap(),
        "slab_2_4_1d" => select(Op::Set, &[Slab::new(2, 1, 3, 1)]),
        "reg5_1d" => select(Op::Set, &[Slab::new(0, 3, 5, 1)]),
        "block_2d" => select(Op::Set, &[Slab::block(1, 2), Slab::block(2, 3)]),
        "diag3_2d" => {
            for (op, at) in [(Op::Set, 0), (Op::Or, 3), (Op::Or, 6)] {
                select(op, &[Slab::block(at, 1), Slab::block(at, 1)]);
            }
        }
        other => panic!("unknown selection {other}"),
    }
    space
}
