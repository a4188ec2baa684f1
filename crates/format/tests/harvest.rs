//! Every block that libhdf5 wrote is written again, byte for byte: `encode(decode(block)) == block`.
//!
//! Files are made on the spot for all lower bounds; real files are looked for in `$HYPERSLAB_CORPUS`, then in `../shared/corpus`.

mod heaps;
mod indexes;
mod messages;
mod tally;
mod walk;

use std::{fs, path::PathBuf, process::Command};

use hyperslab_format::version::{self, FileNeeds, LibVersion};
use tally::Tally;
use walk::Walk;

fn low(bound: &str) -> LibVersion {
    match bound {
        "earliest" => LibVersion::Earliest,
        "v108" => LibVersion::V18,
        "v110" => LibVersion::V110,
        "v112" => LibVersion::V112,
        "v114" => LibVersion::V114,
        "v200" => LibVersion::V200,
        other => panic!("unknown bound {other}"),
    }
}

/// Kinds of blocks that the files made here must have, so that none is left out by accident.
const WANTED: &[&str] = &[
    "superblock 0",
    "superblock 1",
    "superblock 2",
    "superblock 3",
    "driver information block",
    "header 1",
    "header 2",
    "continuation 1",
    "continuation 2",
    "symbol table node",
    "local heap",
    "free list",
    "group node",
    "chunk node",
    "global heap",
    "fractal heap",
    "direct block",
    "indirect block",
    "managed id",
    "huge id",
    "tree header",
    "leaf",
    "internal node",
    "record 1",
    "record 5",
    "record 6",
    "record 7",
    "record 8",
    "record 9",
    "record 10",
    "record 11",
    "fixed array",
    "fixed array data",
    "fixed array pages",
    "fixed array page",
    "extensible array",
    "index block",
    "super block",
    "array data block",
    "array pages",
    "array page",
    "shared message table",
    "shared message list",
    "free-space manager",
    "free sections",
    "virtual mapping",
    "dataspace 1",
    "dataspace 2",
    "link info",
    "old fill value",
    "fill value 2",
    "fill value 3",
    "link",
    "external files",
    "layout 3",
    "layout 4",
    "layout 5",
    "group info",
    "pipeline 1",
    "pipeline 2",
    "attribute 1",
    "attribute 2",
    "attribute 3",
    "comment",
    "shared table",
    "modification time",
    "B-tree K",
    "driver info",
    "attribute info",
    "reference count",
    "file space info",
    "shared 2",
    "shared 3",
    "symbol table",
];

#[test]
fn what_libhdf5_writes_is_written_again() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = std::env::temp_dir().join(format!("hyperslab-format-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/harvest/make.py");
    let output = Command::new(python).arg(script).arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tally = Tally::default();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let (bound, name) = line.split_once(' ').unwrap();
        let bytes = fs::read(folder.join(name)).unwrap();
        tally.open(name);
        let has = |what: &str| name.contains(what);
        let needs = FileNeeds {
            // The first strategy is the usual one, but to keep free space in the file is not.
            extension: has("-space") || has("-shared"),
            chunk_internal_k: if has("-k") { 5 } else { FileNeeds::default().chunk_internal_k },
            ..FileNeeds::default()
        };
        let at = if has("-k") { 512 } else { 0 }; // behind the user block
        tally.expect("version of the superblock", bytes[at + 8], version::superblock(low(bound), needs));
        // Messages that are shared or in a narrow file need more than the bound asks for.
        let bound = (has("-all") || has("-large")).then(|| low(bound));
        if let Err(why) = Walk::all(&bytes, bound, true, &mut tally) {
            tally.wrong("file", why);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    tally.print();
    tally.assert_none_wrong();
    let missing: Vec<_> = WANTED.iter().filter(|kind| !tally.has(kind)).collect();
    assert!(missing.is_empty(), "no block of these kinds: {missing:?}");
}

/// The real files of one set.
fn corpus(set: &str) -> Vec<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("HYPERSLAB_CORPUS").map_or(beside, PathBuf::from).join(set);
    let Ok(entries) = fs::read_dir(&corpus) else {
        println!("skipped: no real files at {}; set HYPERSLAB_CORPUS", corpus.display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn bad_files_do_no_harm() {
    for path in corpus("malformed") {
        // What decodes may still be nothing that can be written; the encoder must say so and no more.
        let _ = Walk::all(&fs::read(path).unwrap(), None, false, &mut Tally::default());
    }
}

#[test]
fn blocks_of_real_files_are_written_again() {
    let (mut tally, mut broken) = (Tally::default(), 0);
    let files = corpus("public");
    for path in &files {
        tally.open(&path.file_name().unwrap().to_string_lossy());
        // What cannot be read to its end was still checked up to there.
        broken += usize::from(Walk::all(&fs::read(path).unwrap(), None, false, &mut tally).is_err());
    }
    tally.print();
    println!("{} real files, {broken} of them not readable as a whole", files.len());
    tally.assert_none_wrong();
}
