//! Sparse datasets in every command.

use std::time::{Duration, Instant};

use hyperslab::{ChunkSection, Dataset, File, NewDataset, ObjectReference, RegionReference, s};
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
    let filters = "sparse chunks 10×10, selection delta+shuffle+deflate 6, values deflate 1, 8 defined (1.33 %)";
    assert!(shown.contains(filters), "{shown}");
    let entries = lines(&folder, "ls --json a.h5", 0);
    let huge = entries.iter().find(|entry| entry["path"] == "/huge").unwrap();
    assert_eq!([&huge["layout"], &huge["chunks"], &huge["index"]], [&json!("sparse"), &json!(3), &json!("farray")]);
    assert_eq!(huge["sparse"]["defined"], 10);
    assert_eq!(huge["sparse"]["stored"]["values"], 40);
    let stat = told(&folder, "stat a.h5", 0);
    assert!(stat.contains("sparse dataset") && stat.contains("selection delta+shuffle+deflate 6"), "{stat}");
    let stat = &lines(&folder, "stat --json a.h5", 0)[0];
    let small = stat["datasets"].as_array().unwrap().iter().find(|dataset| dataset["path"] == "/small").unwrap();
    assert_eq!([&small["sparse"]["defined"], &small["sparse"]["chunk"]], [&json!(8), &json!([10, 10])]);
    assert_eq!(small["sparse"]["filters"]["values"][0]["name"], "deflate");
}

#[test]
fn dump_prints_what_is_defined() {
    let folder = Folder::new("sparse-dump");
    sample(&folder, "a.h5");
    let plain = "/huge  i32  1048576×1048576\n10 elements defined, the fill value is 7\n[3, 4]  1\n[3, 5]  2\n[3, 6]  3\n[3, 7]  4\n\
                 [70000, 9]  5\n[70000, 10]  6\n[70001, 9]  7\n[70001, 10]  8\n[1048575, 1048574]  9\n[1048575, 1048575]  10\n";
    assert_eq!(told(&folder, "dump a.h5 /huge", 0), plain);
    assert_eq!(told(&folder, "dump --sparse-data a.h5 /huge", 0), plain);
    let locations = "/huge  i32  1048576×1048576\n10 elements defined, the fill value is 7\n[3, 4] to [3, 7]\n[70000, 9] to [70001, 10]\n\
                     [1048575, 1048574] to [1048575, 1048575]\n";
    assert_eq!(told(&folder, "dump --sparse-locations a.h5 /huge", 0), locations);
    let limited = told(&folder, "dump --limit 2 a.h5 /huge", 0);
    assert!(limited.ends_with("[3, 4]  1\n[3, 5]  2\n… and 8 more\n"), "{limited}");
    let slice = told(&folder, "dump a.h5 /huge --slice 3,3:6", 0);
    assert!(slice.ends_with("[7, 1, 2]\n"), "{slice}");
    let slice = told(&folder, "dump --sparse-data a.h5 /huge --slice 3,3:6", 0);
    assert!(slice.ends_with("the fill value is 7\n[3, 4]  1\n[3, 5]  2\n"), "{slice}");
    let entry = &lines(&folder, "dump --json --limit 1 a.h5 /huge", 0)[0];
    let expected = json!({"path": "/huge", "kind": "dataset", "type": "i32", "shape": [1 << 20, 1 << 20], "fill": 7,
        "elements": [{"at": [3, 4], "value": 1}], "truncated": true});
    assert_eq!(*entry, expected);
    let entry = &lines(&folder, "dump --json --sparse-locations a.h5 /small", 0)[0];
    assert_eq!(entry["locations"], json!([{"low": [2, 3], "high": [3, 6]}]));
    assert_eq!(entry["fill"], 0);
}

/// A dataset of another file, made from the same values.
fn variant(folder: &Folder, name: &str, make: impl Fn(NewDataset) -> NewDataset, change: impl Fn(&Dataset)) {
    let file = File::create(folder.path(name)).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([1 << 20, 1 << 20]).fill_value(7);
    let huge = make(new).create("huge").unwrap();
    huge.write_slice(s![3, 4..8], &[1, 2, 3, 4]).unwrap();
    huge.write_slice(s![70_000..70_002, 9..11], &[5, 6, 7, 8]).unwrap();
    huge.write_slice(s![-1, -2..], &[9, 10]).unwrap();
    change(&huge);
    file.close().unwrap();
}

#[test]
fn diff_compares_what_is_defined() {
    let folder = Folder::new("sparse-diff");
    sample(&folder, "a.h5");
    let sparse = |new: NewDataset| new.chunks([1000, 3000]).sparse().deflate(1);
    variant(&folder, "same.h5", sparse, |_| {});
    assert_eq!(told(&folder, "diff a.h5 same.h5 /huge", 0), "");
    let storage = told(&folder, "diff --only storage a.h5 same.h5 /huge", 1);
    assert!(storage.contains("sparse chunks 32768×32768 and sparse chunks 1000×3000, selection: delta"), "{storage}");
    variant(&folder, "other.h5", sparse, |huge| {
        huge.write_slice(s![3, 5], &[20]).unwrap();
        huge.write_slice(s![9, 9], &[7]).unwrap();
        huge.erase(huge.slice(s![70_001, 9..11]).unwrap().selection()).unwrap();
    });
    let other = told(&folder, "diff a.h5 other.h5 /huge", 1);
    let expected = "≠ /huge  4 of 11 values differ, by 18.0 at the most; 2 defined only left, 1 only right\n    [3, 5]      2          20\n    \
                    [70001, 9]  7          undefined\n    [70001, 10]  8          undefined\n    [9, 9]      undefined  7\n1 difference\n";
    assert_eq!(squeezed(&other), squeezed(expected));
    let entry = &lines(&folder, "diff --json a.h5 other.h5 /huge", 1)[0];
    assert_eq!([&entry["defined_only_left"], &entry["defined_only_right"]], [&json!(2), &json!(1)]);
    told(&folder, "diff --quiet a.h5 other.h5 /huge", 1);
    // Beside a dense dataset, undefined elements have the fill value.
    variant(&folder, "dense.h5", |new| new.chunks([64, 64]), |_| {});
    assert_eq!(told(&folder, "diff a.h5 dense.h5 /huge", 0), "");
    assert!(told(&folder, "diff --only storage dense.h5 a.h5 /huge", 1).contains("chunks 64×64 and sparse chunks"));
    let change = |huge: &Dataset| huge.write_slice(s![500_000, 5], &[1]).unwrap();
    variant(&folder, "changed.h5", |new| new.chunks([64, 64]), change);
    assert!(told(&folder, "diff changed.h5 a.h5 /huge", 1).contains("[500000, 5]  1  7"));
    variant(&folder, "more.h5", sparse, change);
    assert!(told(&folder, "diff dense.h5 more.h5 /huge", 1).contains("[500000, 5]  7  1"));
    variant(&folder, "fill.h5", |new| sparse(new).fill_value(8), |_| {});
    assert_eq!(told(&folder, "diff a.h5 fill.h5 /huge", 1), "≠ /huge  fill value: 7 and 8\n1 difference\n");
}

#[test]
fn diff_of_sparse_and_others_walks_what_is_defined() {
    let folder = Folder::new("sparse-diff-others");
    sample(&folder, "a.h5");
    let fill = |new: NewDataset, fill: i32| new.chunks([64, 64]).fill_value(fill);
    // Another fill value: all but ten elements differ, and the first of them is told.
    variant(&folder, "fill.h5", |new| fill(new, 8), |_| {});
    let shown = told(&folder, "diff fill.h5 a.h5 /huge", 1);
    assert!(shown.contains(&format!("{} of {} values differ", (1u64 << 40) - 10, 1u64 << 40)), "{shown}");
    assert!(shown.contains("[0, 0]") && squeezed(&shown).windows(2).any(|pair| pair == ["8", "7"]), "{shown}");
    // One that was never written, in one piece.
    variant(
        &folder,
        "never.h5",
        |new| new.chunks([1 << 15, 1 << 15]).sparse(),
        |huge| huge.erase(&huge.space()).unwrap(),
    );
    let file = File::create(folder.path("piece.h5")).unwrap();
    file.root().unwrap().new_dataset::<i32>().shape([1 << 20, 1 << 20]).fill_value(7).create("huge").unwrap();
    file.close().unwrap();
    assert_eq!(told(&folder, "diff piece.h5 never.h5 /huge", 0), "");
    assert!(told(&folder, "diff piece.h5 a.h5 /huge", 1).contains("9 of 10 values differ"));
    // A virtual one, of a sparse source.
    let file = File::create(folder.path("virtual.h5")).unwrap();
    let whole = hyperslab::space::Space::simple(&[1 << 20, 1 << 20]).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([1 << 20, 1 << 20]).fill_value(7);
    new.virtual_source(&whole, "a.h5", "/huge", &whole).create("huge").unwrap();
    file.close().unwrap();
    assert_eq!(told(&folder, "diff virtual.h5 a.h5 /huge", 0), "");
    assert_eq!(squeezed(&told(&folder, "diff never.h5 virtual.h5 /huge", 1))[1..4], ["/huge", "9", "of"]);
}

fn squeezed(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn digest_sums_what_is_defined() {
    let folder = Folder::new("sparse-digest");
    let sparse = |new: NewDataset| new.chunks([1000, 3000]).sparse();
    variant(&folder, "a.h5", sparse, |_| {});
    variant(&folder, "b.h5", sparse, |_| {});
    variant(&folder, "c.h5", sparse, |huge| huge.write_slice(s![9, 9], &[7]).unwrap());
    let data = |name: &str| {
        let entries = lines(&folder, &format!("digest {name}"), 0);
        entries.into_iter().find(|entry| entry["path"] == "/huge").unwrap()
    };
    let [first, second, third] = ["a.h5", "b.h5", "c.h5"].map(data);
    assert_eq!(first["data"], second["data"]);
    assert_eq!([&first["layout"]["class"], &first["data"]["defined"]], [&json!("sparse"), &json!(10)]);
    assert_eq!(third["data"]["defined"], 11);
    assert_ne!(first["data"]["sha256"], third["data"]["sha256"]);
}

/// The layout and the filters of a dataset, as `ls --json` tells them.
fn entry(folder: &Folder, file: &str, path: &str) -> Value {
    lines(folder, &format!("ls --json {file}"), 0).into_iter().find(|entry| entry["path"] == path).unwrap()
}

#[test]
fn repack_makes_datasets_sparse_and_dense() {
    let folder = Folder::new("sparse-repack");
    let file = File::create(folder.path("dense.h5")).unwrap();
    let root = file.root().unwrap();
    let mut values = vec![0u16; 300 * 400];
    for at in (0..values.len()).step_by(997) {
        values[at] = at as u16 | 1;
    }
    let new = || root.new_dataset::<u16>().shape([300, 400]);
    new().chunks([50, 70]).shuffle().deflate(3).write("filtered", &values).unwrap();
    new().chunks([50, 70]).write("chunked", &values).unwrap();
    new().write("contiguous", &values).unwrap();
    root.new_dataset::<f32>().compact().fill_value(1.5f32).write("compact", &[1.5, 2.0, 1.5, 0.0, -0.0]).unwrap();
    root.new_dataset::<f32>().chunks([2]).fill_value(0.0f32).write("zeros", &[0.0, -0.0, 1.0]).unwrap();
    root.new_dataset::<String>().write("words", &["one".to_owned(), String::new()]).unwrap();
    root.new_dataset::<i32>().shape([0]).max_shape([None]).create("none").unwrap();
    file.close().unwrap();

    told(&folder, "repack --sparse dense.h5 sparse.h5", 0);
    assert_eq!(told(&folder, "diff dense.h5 sparse.h5", 0), "");
    assert_eq!(told(&folder, "check sparse.h5", 0).lines().count(), 1);
    let defined = values.iter().filter(|value| **value != 0).count();
    for name in ["filtered", "chunked", "contiguous"] {
        let entry = entry(&folder, "sparse.h5", &format!("/{name}"));
        assert_eq!([&entry["layout"], &entry["sparse"]["defined"]], [&json!("sparse"), &json!(defined)], "{name}");
    }
    let filters = &entry(&folder, "sparse.h5", "/filtered")["sparse"]["filters"];
    for (section, first) in [("selection", 1), ("values", 0)] {
        let names = [first, first + 1].map(|nth| &filters[section][nth]["name"]);
        assert_eq!(names, ["shuffle", "deflate"], "{section}");
    }
    assert_eq!(filters["selection"][0]["name"], "delta");
    // What differs from the fill value only in its bytes is kept.
    let shown = told(&folder, "dump sparse.h5 /compact /zeros", 0);
    for line in ["3 elements defined, the fill value is 1.5\n[1]  2\n[3]  0\n[4]  -0\n", "[1]  -0\n[2]  1\n"] {
        assert!(shown.replace(".0", "").contains(line), "{shown}");
    }
    let words = entry(&folder, "sparse.h5", "/words");
    assert_eq!([&words["layout"], &words["sparse"]["defined"]], [&json!("sparse"), &json!(2)]);

    for words in ["--dense", "--layout contiguous", "--layout chunked:31x37"] {
        told(&folder, &format!("repack {words} sparse.h5 again.h5"), 0);
        assert_eq!(told(&folder, "diff dense.h5 again.h5", 0), "", "{words}");
        assert_eq!(told(&folder, "diff sparse.h5 again.h5", 0), "", "{words}");
        assert_ne!(entry(&folder, "again.h5", "/chunked")["layout"], "sparse", "{words}");
        std::fs::remove_file(folder.path("again.h5")).unwrap();
    }
    told(&folder, "repack --sparse=/chunked --layout /contiguous=sparse:64x64 dense.h5 two.h5", 0);
    let layouts = ["/chunked", "/contiguous", "/filtered"].map(|path| entry(&folder, "two.h5", path)["layout"].clone());
    assert_eq!(layouts, ["sparse", "sparse", "chunked"]);
    // A new shape of chunks, other filters, or none of both.
    told(&folder, "repack --layout sparse:90x80 sparse.h5 third.h5", 0);
    told(&folder, "repack --filter zstd third.h5 fourth.h5", 0);
    told(&folder, "repack fourth.h5 fifth.h5", 0);
    assert_eq!(told(&folder, "diff --ignore links sparse.h5 fifth.h5", 0), "");
    let fifth = entry(&folder, "fifth.h5", "/filtered");
    assert_eq!([&fifth["chunk"], &fifth["sparse"]["defined"]], [&json!([90, 80]), &json!(defined)]);
    assert_eq!(fifth["sparse"]["filters"]["values"][0]["name"], "zstd");
    let refused = run(&folder, "repack --sparse --version 1.8 dense.h5 no.h5");
    assert!(text(&refused.stderr).contains("superblock"), "{}", text(&refused.stderr));
}

/// The names of the filters of each section of a dataset.
fn filters(folder: &Folder, file: &str, path: &str) -> String {
    let sections = entry(folder, file, path)["sparse"]["filters"].as_object().unwrap().clone();
    let names = |filters: &Value| {
        let names = filters.as_array().unwrap().iter().map(|filter| filter["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join("+")
    };
    ["selection", "values", "vlen"]
        .into_iter()
        .filter_map(|section| Some(format!("{section}={}", names(sections.get(section)?))))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn filters_of_one_section_are_set_replaced_and_removed() {
    let folder = Folder::new("sparse-sections");
    let numbers = (0..24).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let put = "put a.h5 /hits --type u16 --shape 4x6 --chunks 2x3";
    let sections = "--sparse --filter gzip:9 --section-filter selection=delta+shuffle+lzf";
    told(&folder, &format!("{put} {sections} {numbers}"), 0);
    let hits = |file: &str| filters(&folder, file, "/hits");
    assert_eq!(hits("a.h5"), "selection=delta+shuffle+lzf values=deflate");
    let delta = &entry(&folder, "a.h5", "/hits")["sparse"]["filters"]["selection"][0];
    assert_eq!(delta["parameters"], json!([2, 4]), "the dimensions, and the bytes of the checksum");
    // Values alone change nothing of it; one that is made anew has what is said then.
    told(&folder, &format!("put a.h5 /hits {numbers}"), 0);
    assert_eq!(hits("a.h5"), "selection=delta+shuffle+lzf values=deflate");
    told(&folder, &format!("{put} --sparse --filter gzip --section-filter selection=lzf {numbers}"), 0);
    assert_eq!(hits("a.h5"), "selection=lzf values=deflate");
    told(&folder, &format!("{put} --sparse --filter gzip {numbers}"), 0);
    assert_eq!(hits("a.h5"), "selection=delta+shuffle+deflate values=deflate");
    for (nth, (words, wanted)) in [
        ("--section-filter selection=none", "selection= values=deflate"),
        ("--section-filter data=shuffle+zstd:3", "selection= values=shuffle+zstd"),
        ("--section-filter /hits=selection=gzip:9", "selection=deflate values=shuffle+zstd"),
        ("--section-filter values=none --section-filter values=lz4", "selection=deflate values=lz4"),
        ("--section-filter values=none --section-filter /hits=selection=none", "selection= values="),
        ("--section-filter selection=delta+shuffle+zstd", "selection=delta+shuffle+zstd values="),
        ("--layout sparse:3x3 --section-filter values=fletcher32", "selection=delta+shuffle+zstd values=fletcher32"),
        ("--filter gzip --section-filter values=none", "selection=delta+shuffle+deflate values="),
    ]
    .into_iter()
    .enumerate()
    {
        let (from, to) = if nth % 2 == 0 { ("a.h5", "b.h5") } else { ("b.h5", "a.h5") };
        let _ = std::fs::remove_file(folder.path(to));
        told(&folder, &format!("repack {words} {from} {to}"), 0);
        assert_eq!(hits(to), wanted, "{words}");
        assert_eq!(told(&folder, &format!("diff {from} {to}"), 0), "", "{words}");
        assert!(told(&folder, &format!("check --strict {to}"), 0).contains("whole"), "{words}");
    }
}

#[test]
fn filters_of_one_section_of_what_becomes_sparse() {
    let folder = Folder::new("sparse-sections-new");
    told(&folder, "put a.h5 /images --type u16 --chunks 4 --filter shuffle+gzip:3 1 2 3 4 5 6 7 8", 0);
    told(&folder, "put a.h5 /plain --type u16 1 2 3", 0);
    told(&folder, "put a.h5 /words --type text --sparse --filter gzip --section-filter vlen=zstd one two three", 0);
    assert_eq!(filters(&folder, "a.h5", "/words"), "selection=delta+shuffle+deflate values=deflate vlen=zstd");
    let stat = told(&folder, "stat a.h5", 0);
    assert!(stat.contains("selection delta+shuffle+deflate 6, values deflate 6, vlen zstd 3"), "{stat}");
    // Filters of a section are for the datasets that have it.
    told(&folder, "repack --sparse=/images --section-filter selection=lzf a.h5 b.h5", 0);
    assert_eq!(filters(&folder, "b.h5", "/images"), "selection=lzf values=shuffle+deflate");
    assert_eq!(filters(&folder, "b.h5", "/words"), "selection=lzf values=deflate vlen=zstd");
    assert_eq!(entry(&folder, "b.h5", "/plain")["layout"], "contiguous");
    assert_eq!(told(&folder, "diff a.h5 b.h5", 0), "");
    let storage = &lines(&folder, "diff --json --only storage a.h5 b.h5 /words", 1)[0];
    assert!(storage["left"].as_str().unwrap().ends_with(", values: deflate [6], vlen: zstd [3]"), "{storage}");
    // Values that a filter does not fit keep what they have, unless their dataset is named.
    told(&folder, "repack --sparse --section-filter values=scaleoffset:0 a.h5 c.h5", 0);
    assert_eq!(filters(&folder, "c.h5", "/images"), "selection=delta+shuffle+deflate values=scaleoffset");
    assert_eq!(filters(&folder, "c.h5", "/words"), "selection=delta+shuffle+deflate values=deflate vlen=zstd");
    // Other chunks keep the filters of all sections.
    told(&folder, "repack --layout sparse:2 c.h5 d.h5", 0);
    assert_eq!(filters(&folder, "d.h5", "/words"), "selection=delta+shuffle+deflate values=deflate vlen=zstd");
    assert_eq!(told(&folder, "diff a.h5 d.h5", 0), "");
    for (words, code, why) in [
        ("repack --section-filter /plain=values=gzip", 1, "sections"),
        ("repack --layout /plain=compact --section-filter /plain=values=gzip", 1, "sections"),
        ("repack --section-filter selection=gzip:12", 1, "the level"),
        ("repack --section-filter vlen=gzip:12", 1, "the level"),
        ("repack --section-filter /gone=values=gzip", 1, "/gone"),
        ("repack --section-filter places=gzip", 2, "`places` is no section"),
        ("repack --section-filter gzip", 2, "`gzip` is no section"),
        ("repack --section-filter selection=gunzip", 2, "`gunzip` is no filter"),
        ("repack --section-filter values=delta+gzip", 2, "delta is for what tells which elements are defined"),
        ("repack --filter delta", 2, "delta is for what tells which elements are defined"),
        ("repack --to csr-group --section-filter values=none", 2, "cannot be used with"),
    ] {
        let output = run(&folder, &format!("{words} a.h5 no.h5"));
        assert_eq!(output.status.code(), Some(code), "{words}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(why), "{words}: {}", text(&output.stderr));
        assert!(!folder.path("no.h5").exists(), "{words}");
    }
    let output = run(&folder, "put a.h5 /more --section-filter values=gzip 1 2");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// Where bytes lie in a file.
fn places(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    (0..=bytes.len() - wanted.len()).filter(|at| bytes[*at..].starts_with(wanted)).collect()
}

#[test]
fn check_reads_which_elements_are_defined() {
    let folder = Folder::new("sparse-check");
    for filtered in [false, true] {
        let file = File::create(folder.path("a.h5")).unwrap();
        let group = file.root().unwrap().create_group("run").unwrap();
        let new = group.new_dataset::<u64>().shape([40, 50]).chunks([10, 10]).sparse();
        let new = if filtered { new.section(ChunkSection::Selection).shuffle().lzf() } else { new };
        let dataset = new.create("hits").unwrap();
        let marked: Vec<u64> = (0..8).map(|nth| 0x5eed_0000_0000 + nth).collect();
        dataset.write_slice(s![0, 0..8], &[1u64; 8]).unwrap();
        dataset.write_slice(s![32, 41..49], &marked).unwrap();
        drop(dataset);
        file.close().unwrap();
        let clean = told(&folder, "check --strict a.h5", 0);
        assert!(clean.starts_with("a.h5: whole"), "{clean}");
        let whole = std::fs::read(folder.path("a.h5")).unwrap();
        // Section 0 ends where the values begin.
        let [values] = places(&whole, &marked[0].to_le_bytes())[..] else { panic!("the values are there once") };
        let dumped = told(&folder, "dump a.h5", 0);
        let mut noticed = 0;
        for before in 1..24 {
            let mut bytes = whole.clone();
            bytes[values - before] ^= 0x10;
            std::fs::write(folder.path("b.h5"), bytes).unwrap();
            let (checked, read) = (run(&folder, "check b.h5"), run(&folder, "dump b.h5"));
            if text(&read.stdout) == dumped {
                // Filtered bytes may stand for the same, or they are not of this chunk.
                assert_eq!((filtered, checked.status.code()), (true, Some(0)), "{before}");
                continue;
            }
            let told = text(&checked.stdout);
            assert_eq!((checked.status.code(), read.status.code()), (Some(1), Some(1)), "{filtered} {before}: {told}");
            let expected = "chunk of /run/hits: section 0 (which elements are defined) of chunk [3, 4]: ";
            assert!(told.contains(expected), "{filtered} {before}: {told}");
            assert!(text(&read.stderr).contains("/run/hits"), "{}", text(&read.stderr));
            noticed += 1;
        }
        assert!(noticed == 23 || filtered && noticed > 12, "{filtered}: {noticed}");
        std::fs::remove_file(folder.path("a.h5")).unwrap();
    }
}

/// References in chunks, beside the same ones in the heap.
#[test]
fn references_are_shown_compared_and_copied() {
    let folder = Folder::new("sparse-references");
    let file = File::create(folder.path("dense.h5")).unwrap();
    let root = file.root().unwrap();
    let target = root.new_dataset::<i32>().write("target", &[1, 2, 3, 4]).unwrap();
    let region = |to| target.region_reference(target.slice(s![0..to]).unwrap().selection()).unwrap();
    let rows: Vec<Vec<RegionReference>> = vec![vec![region(1), region(2)], vec![], vec![RegionReference::NULL]];
    root.new_dataset::<Vec<RegionReference>>().chunks([2]).write("rows", &rows).unwrap();
    root.new_dataset::<RegionReference>().chunks([2]).write("regions", &[region(3), region(4)]).unwrap();
    root.new_dataset::<ObjectReference>().chunks([2]).write("objects", &[target.reference(); 3]).unwrap();
    drop(target);
    file.close().unwrap();
    told(&folder, "repack --sparse dense.h5 sparse.h5", 0);
    told(&folder, "repack --dense sparse.h5 again.h5", 0);
    for name in ["sparse.h5", "again.h5"] {
        assert_eq!(told(&folder, &format!("check {name}"), 0).lines().count(), 1);
        assert_eq!(told(&folder, &format!("diff dense.h5 {name} /rows"), 0), "", "{name}");
        assert_eq!(told(&folder, &format!("diff dense.h5 {name} /regions"), 0), "", "{name}");
        assert_eq!(told(&folder, &format!("diff dense.h5 {name} /objects"), 0), "", "{name}");
    }
    assert_eq!(entry(&folder, "sparse.h5", "/rows")["layout"], "sparse");
    let shown = told(&folder, "dump sparse.h5 /rows", 0);
    assert!(shown.contains("/target") && shown.contains("null"), "{shown}");
    let sums = |name: &str| {
        let entries = lines(&folder, &format!("digest {name}"), 0);
        let sum = |path: &str| entries.iter().find(|entry| entry["path"] == path).unwrap()["data"]["sha256"].clone();
        ["/rows", "/regions", "/objects"].map(sum)
    };
    assert_eq!(sums("dense.h5"), sums("again.h5"));
    told(&folder, "repack sparse.h5 copy.h5", 0);
    assert_eq!(sums("sparse.h5"), sums("copy.h5"));
}

#[test]
fn no_sparse_chunks_in_a_file_with_an_older_upper_bound() {
    let folder = Folder::new("sparse-version-max");
    sample(&folder, "a.h5");
    for words in [
        "repack --version-max 1.14 a.h5 new.h5",
        "copy --version-max 1.8 a.h5:/small new.h5",
        "put --version-max 1.10 --sparse --type i32 --shape 4 new.h5 /x 1 2 3 4",
    ] {
        let output = run(&folder, words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        let why = text(&output.stderr);
        assert!(why.contains("structured chunks are newer than 1."), "{words}: {why}");
        assert!(!folder.path("new.h5").exists(), "{words}");
    }
    told(&folder, "repack --version-max 1.14 --dense=/small --layout /huge=sparse a.h5 new.h5", 1);
    told(&folder, "repack --version-max 2.0 a.h5 new.h5", 0);
}
