//! Sparse datasets in every command.

use std::time::{Duration, Instant};

use hyperslab::{ChunkSection, File, s};
use serde_json::{Value, json};

use crate::common::{Folder, run, text};

/// No command may take longer, however large the extent is.
const SOON: Duration = Duration::from_secs(20);

/// A file with a sparse dataset of 2^40 elements, of which ten are defined, and a small one with an own pipeline for values.
fn sample(folder: &Folder, name: &str) {
    let file = File::create(folder.path(name)).unwrap();
    let root = file.root().unwrap();
    let huge = root.new_dataset::<i32>().shape([1 << 20, 1 << 20]).chunks([1 << 15, 1 << 15]).sparse().fill_value(7);
    let huge = huge.create("huge").unwrap();
    huge.write_slice(s![3, 4..8], &[1, 2, 3, 4]).unwrap();
    huge.write_slice(s![70_000..70_002, 9..11], &[5, 6, 7, 8]).unwrap();
    huge.write_slice(s![-1, -2..], &[9, 10]).unwrap();
    let small = root.new_dataset::<u16>().shape([20, 30]).chunks([10, 10]).sparse().shuffle().deflate(6);
    let small = small.section(ChunkSection::Values).deflate(1).create("small").unwrap();
    small.write_slice(s![2..4, 3..7], &[1u16; 8]).unwrap();
    file.close().unwrap();
}

/// What a command prints, which must come soon.
fn told(folder: &Folder, words: &str, code: i32) -> String {
    let begun = Instant::now();
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(code), "{words}: {}", text(&output.stderr));
    assert!(begun.elapsed() < SOON, "{words}: {:?}", begun.elapsed());
    text(&output.stdout)
}

fn lines(folder: &Folder, words: &str, code: i32) -> Vec<Value> {
    told(folder, words, code).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ls_and_stat_tell_how_much_is_defined() {
    let folder = Folder::new("sparse-ls");
    sample(&folder, "a.h5");
    let shown = told(&folder, "ls a.h5", 0);
    assert!(shown.contains("sparse chunks 32768×32768, 10 defined (9.09e-10 %), 4.0 TiB in"), "{shown}");
    let filters = "sparse chunks 10×10, selection shuffle+deflate 6, values deflate 1, 8 defined (1.33 %)";
    assert!(shown.contains(filters), "{shown}");
    let entries = lines(&folder, "ls --json a.h5", 0);
    let huge = entries.iter().find(|entry| entry["path"] == "/huge").unwrap();
    assert_eq!([&huge["layout"], &huge["chunks"], &huge["index"]], [&json!("sparse"), &json!(3), &json!("farray")]);
    assert_eq!(huge["sparse"]["defined"], 10);
    assert_eq!(huge["sparse"]["stored"]["values"], 40);
    let stat = told(&folder, "stat a.h5", 0);
    assert!(stat.contains("sparse dataset") && stat.contains("selection shuffle+deflate 6"), "{stat}");
    let stat = &lines(&folder, "stat --json a.h5", 0)[0];
    let small = stat["datasets"].as_array().unwrap().iter().find(|dataset| dataset["path"] == "/small").unwrap();
    assert_eq!([&small["sparse"]["defined"], &small["sparse"]["chunk"]], [&json!(8), &json!([10, 10])]);
    assert_eq!(small["sparse"]["filters"]["values"][0]["name"], "deflate");
}
