//! `demo`: what it keeps, prints and draws. That every pixel came back it finds out itself.

use hyperslab::File;
use serde_json::Value;

use crate::common::{Folder, digest, run, text};

fn done(folder: &Folder, words: &str) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(folder: &Folder, words: &str) -> Value {
    let told = done(folder, words);
    assert_eq!(told.lines().count(), 1, "{told}");
    serde_json::from_str(&told).unwrap()
}

#[test]
fn both_patterns_in_a_table_a_file_and_a_picture() {
    let folder = Folder::new("demo");
    let told = done(&folder, "demo --images 5 --full-every 2 --keep run.h5 --picture run.png");
    let rows: Vec<&str> = told.lines().collect();
    for (row, words) in [(0, "per defined pixel"), (1, "regions"), (1, "sparse"), (2, "dense"), (3, "dense, in full")] {
        assert!(rows[row].contains(words), "{told}");
    }
    for words in ["spots", "every pixel is as it was sent", "picture of image 2: run.png", "kept in run.h5"] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(folder.names(), ["run.h5", "run.png"]);
    assert!(done(&folder, "check --strict run.h5").starts_with("run.h5: whole"));
    let file = File::open(folder.path("run.h5")).unwrap();
    for (pattern, least, most) in [("regions", 104_000, 106_000), ("spots", 200, 1000)] {
        let group = file.group(pattern).unwrap();
        let (images, full) = (group.dataset("images").unwrap(), group.dataset("full").unwrap());
        assert_eq!((images.shape(), full.shape()), (vec![5, 1024, 1024], vec![3, 1024, 1024]));
        assert!(images.is_sparse() && !full.is_sparse());
        let defined = images.stored_sections().unwrap().unwrap().defined;
        assert!((5 * least..5 * most).contains(&defined), "{pattern}: {defined}");
        // What is sent of an image is a part of the full one.
        let selection = images.defined(images.slice(4).unwrap().selection()).unwrap();
        let values: Vec<u16> = images.read_selection(&selection).unwrap();
        let full: Vec<u16> = full.read_slice(2).unwrap();
        for (coord, value) in selection.coords().unwrap().zip(values) {
            assert_eq!(full[(coord[1] * 1024 + coord[2]) as usize], value, "{coord:?}");
        }
    }
}

#[test]
fn a_picture_shows_the_defined_pixels() {
    let folder = Folder::new("demo-picture");
    std::fs::write(folder.path("hyperslab-demo.png"), "of the demo before").unwrap();
    done(&folder, "demo --images 1 --full-every 0");
    assert_eq!(folder.names(), ["hyperslab-demo.png"]);
    let bytes = std::fs::read(folder.path("hyperslab-demo.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (2 * 1024 + 8, 1024));
    let mut pixels = vec![0; 2056 * 1024];
    reader.next_frame(&mut pixels).unwrap();
    let defined = |columns: std::ops::Range<usize>| {
        pixels.iter().enumerate().filter(|(at, pixel)| columns.contains(&(at % 2056)) && **pixel != 0).count()
    };
    assert!((104_000..106_000).contains(&defined(0..1024)), "{}", defined(0..1024));
    assert_eq!(defined(1024..1032), 8 * 1024);
    assert!((200..1000).contains(&defined(1032..2056)), "{}", defined(1032..2056));
}

#[test]
fn json_has_each_dataset() {
    let folder = Folder::new("demo-json");
    let told =
        json(&folder, "demo --json --images 3 --pattern spots --megapixels 2 --full-every 3 --seed 5 --keep a.h5");
    let told_of = ["file", "picture", "images", "height", "width", "seed"].map(|key| told[key].to_string());
    assert_eq!(told_of, ["\"a.h5\"", "\"hyperslab-demo.png\"", "3", "1024", "2048", "5"]);
    let [stream] = &told["streams"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!(stream["pattern"], "spots");
    let datasets = stream["datasets"].as_array().unwrap();
    let layouts: Vec<_> = datasets.iter().map(|data| (data["name"].as_str(), data["layout"].as_str())).collect();
    assert_eq!(
        layouts,
        [("images", "sparse"), ("images", "dense"), ("full", "dense")].map(|(a, b)| (Some(a), Some(b)))
    );
    for (dataset, values) in datasets.iter().zip([stream["defined"].as_f64().unwrap(), 0.0, 2048.0 * 1024.0]) {
        let number = |key: &str| dataset[key].as_f64().unwrap();
        assert!(number("write_seconds") > 0.0 && number("read_seconds") > 0.0, "{dataset}");
        assert!((number("write_rate") * number("write_seconds") / number("images") - 1.0).abs() < 1e-6, "{dataset}");
        assert!(values == 0.0 || (number("bytes_per_defined") * values - number("bytes")).abs() < 1.0, "{dataset}");
    }
    // Equal seeds make equal files.
    done(&folder, "demo --images 3 --pattern spots --megapixels 2 --full-every 3 --seed 5 --keep b.h5");
    done(&folder, "demo --images 3 --pattern spots --megapixels 2 --full-every 3 --seed 6 --keep c.h5");
    let [first, second, third] = ["a.h5", "b.h5", "c.h5"].map(|name| digest(&folder, name).unwrap());
    assert_eq!(first, second);
    assert_ne!(first, third);
}

#[test]
fn what_cannot_be_is_said_before_anything_is_recorded() {
    let folder = Folder::new("demo-refused");
    std::fs::write(folder.path("there.h5"), "something").unwrap();
    for (words, code, why) in [
        ("demo --images 0", 2, "--images"),
        ("demo --megapixels 5", 2, "--megapixels"),
        ("demo --pattern rings", 2, "[possible values: regions, spots]"),
        ("demo --keep there.h5", 1, "there is a file there.h5 already"),
        ("demo --keep nowhere/a.h5", 1, "cannot write nowhere/a.h5: "),
        ("demo --picture nowhere/a.png", 1, "cannot write nowhere/a.png: "),
    ] {
        let output = run(&folder, words);
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert!(text(&output.stderr).contains(why), "{words}: {}", text(&output.stderr));
        assert_eq!(folder.names(), ["there.h5"], "{words}");
    }
}
