//! `repack` of a file in which one byte is flipped: it writes nothing and names what is damaged, or writes the rest if it is told to.
#![cfg(target_os = "linux")]

use hyperslab::{File, LibVersion, OpenOptions};
use std::{fs, path::Path};

use crate::common::{Folder, run, text};

/// Values of a chunk that occur nowhere else.
const MARK: [i32; 16] = [0x5eed_beef; 16];

/// A part of the file: the path that names it, the address of the byte that is flipped, and the options with which `repack` reads it.
struct Part {
    path: &'static str,
    at: usize,
    options: &'static str,
}

/// Without these, chunks are copied as they are stored.
const DECODED: &str = " --filter /sums=gzip:1";

/// The group `/runs` with 50 datasets, and some objects beside it.
fn make(path: &Path) -> [Part; 3] {
    let file = OpenOptions::new().create_new().libver_min(LibVersion::V110).open(path).unwrap();
    let root = file.root().unwrap();
    root.set_attribute("title", "whole").unwrap();
    let runs = root.create_group("runs").unwrap();
    for nth in 0..50 {
        runs.new_dataset::<i32>().write(format!("{nth}"), &[nth; 10]).unwrap();
    }
    let single = root.new_dataset::<i32>().write("single", &[7; 10]).unwrap().address() as usize;
    let sums = root.new_dataset::<i32>().shape([64]).chunks([16]).fletcher32().create("sums").unwrap();
    sums.write(&[[1; 16], [2; 16], MARK, [4; 16]].concat()).unwrap();
    root.new_dataset::<i32>().shape([64]).chunks([16]).deflate(1).write("others", &[9; 64]).unwrap();
    let group = runs.address() as usize;
    file.close().unwrap();
    let bytes = fs::read(path).unwrap();
    for header in [group, single] {
        assert_eq!(&bytes[header..header + 4], b"OHDR", "a header with a checksum");
    }
    let mark = MARK.map(i32::to_le_bytes).concat();
    let chunk = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    // Behind the signature, the version, the flags and the times: in the first message.
    [
        Part { path: "/runs", at: group + 30, options: "" },
        Part { path: "/single", at: single + 30, options: "" },
        Part { path: "/sums", at: chunk + 21, options: DECODED },
    ]
}

/// The values of all datasets, or that one cannot be read; by path, but for the damaged part.
fn values(path: &Path, without: &str) -> Vec<(String, Vec<i32>)> {
    let file = File::open(path).unwrap();
    assert_eq!(file.root().unwrap().attribute("title").unwrap().read_scalar::<String>().unwrap(), "whole");
    let names = ["/single", "/sums", "/others"].map(String::from).into_iter();
    let names = names.chain((0..50).map(|nth| format!("/runs/{nth}")));
    let names = names.filter(|name| without.is_empty() || !name.starts_with(without));
    names.map(|name| (name.clone(), file.dataset(&name).unwrap().read::<i32>().unwrap())).collect()
}

#[test]
fn a_flipped_byte_is_named_and_nothing_else_is_lost() {
    let folder = Folder::new("damaged");
    let (whole, damaged, target) = (folder.path("whole.h5"), folder.path("damaged.h5"), folder.path("new.h5"));
    let parts = make(&whole);
    let bytes = fs::read(&whole).unwrap();
    for Part { path, at, options } in parts {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        fs::write(&damaged, &flipped).unwrap();
        let names = folder.names();

        let packed = run(&folder, &format!("repack{options} damaged.h5 new.h5"));
        let complaint = text(&packed.stderr);
        assert_eq!(packed.status.code(), Some(1), "{path}: {complaint}");
        assert!(complaint.lines().any(|line| line.starts_with(&format!("error: {path}: "))), "{path}: {complaint}");
        assert_eq!(folder.names(), names, "{path}");

        let packed = run(&folder, &format!("repack --skip-damaged{options} damaged.h5 new.h5"));
        let complaint = text(&packed.stderr);
        assert_eq!(packed.status.code(), Some(3), "{path}: {complaint}");
        let left_out = format!("left out: {path}: ");
        assert_eq!(complaint.matches("left out: ").count(), 1, "{path}: {complaint}");
        assert!(complaint.contains(&left_out), "{path}: {complaint}");
        assert_eq!(values(&target, path), values(&whole, path), "{path}");
        // What was lost does not read as if it had never been written.
        let lost = File::open(&target).unwrap().get(path).and_then(|node| match node {
            hyperslab::Node::Dataset(dataset) => dataset.read::<i32>().map(drop),
            _ => Ok(()),
        });
        assert!(lost.is_err(), "{path} can be read in the new file");
        let checked = run(&folder, "check new.h5");
        assert!(checked.status.success(), "{path}: {}{}", text(&checked.stdout), text(&checked.stderr));
        fs::remove_file(&target).unwrap();
        assert_eq!(fs::read(&damaged).unwrap(), flipped, "{path}: the damaged file was changed");
    }
    // Without damage both ways are the same.
    for words in ["repack whole.h5 new.h5", "repack --skip-damaged whole.h5 new.h5"] {
        let packed = run(&folder, words);
        assert_eq!((packed.status.code(), text(&packed.stderr)), (Some(0), String::new()), "{words}");
        assert_eq!(values(&target, ""), values(&whole, ""), "{words}");
        fs::remove_file(&target).unwrap();
    }
}

/// A chunk that is copied as it is stored keeps its damage and the checksum that tells of it.
#[test]
fn a_damaged_chunk_that_is_copied_as_it_is_stays_damaged() {
    let folder = Folder::new("damaged-chunk");
    let (whole, target) = (folder.path("whole.h5"), folder.path("new.h5"));
    let [.., Part { path, at, .. }] = make(&whole);
    let mut bytes = fs::read(&whole).unwrap();
    bytes[at] ^= 0x10;
    fs::write(folder.path("damaged.h5"), bytes).unwrap();
    let packed = run(&folder, "repack damaged.h5 new.h5");
    assert_eq!((packed.status.code(), text(&packed.stderr)), (Some(0), String::new()));
    let sums = File::open(&target).unwrap().dataset(path).unwrap();
    assert!(sums.read::<i32>().is_err());
    for (nth, value) in [(0, 1), (1, 2), (3, 4)] {
        assert_eq!(sums.read_slice::<i32>(nth * 16..nth * 16 + 16).unwrap(), [value; 16]);
    }
    assert_eq!(values(&target, path), values(&whole, path));
}
