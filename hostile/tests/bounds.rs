//! Files made to keep a reader busy for ever, or to exhaust it: each is one that once did, or could have.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hyperslab::{Error, ErrorKind, File, Node, driver::Memory};
use hyperslab_file::Error as FileError;
use hyperslab_hostile::{cause, repair_file, seeds, walk};

fn seed(name: &str) -> Vec<u8> {
    seeds().unwrap().into_iter().find(|(found, _)| found == name).unwrap().1
}

fn open(bytes: Vec<u8>) -> hyperslab::Result<File> {
    File::open_driver(Arc::new(Memory::from(bytes)))
}

fn places(bytes: &[u8], signature: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|&at| bytes[at..].starts_with(signature)).collect()
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// The errors of a walk, which must not take long.
fn errors(bytes: Vec<u8>) -> Vec<Error> {
    let begin = Instant::now();
    let errors = walk(bytes).errors;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    errors
}

/// One of the errors is that a structure is malformed.
fn has(errors: &[Error], what: &str) {
    let is_meant = |error: &Error| error.kind() == ErrorKind::Malformed && cause::structure(error) == Some(what);
    assert!(errors.iter().any(is_meant), "{what} is not among {errors:?}");
}

/// A root group whose tree has `levels` nodes, one below the other, and each names the next in all its places: two to the power of
/// the levels ways lead to the one leaf.
#[test]
fn a_tree_whose_nodes_share_their_children() {
    let mut bytes = seed("old-groups");
    let (widths, node) = (8, 24 + 2 * 8 + 3 * 8);
    let levels = 60u8;
    let first = bytes.len();
    for level in (0..levels).rev() {
        let start = bytes.len();
        bytes.extend(b"TREE\0");
        bytes.extend([level, 2, 0]);
        bytes.extend([0xff; 16]);
        let leaf = places(&bytes, b"SNOD")[0];
        let below = if level == 0 { leaf } else { start + node };
        for _ in 0..2 {
            bytes.extend([0; 8]);
            bytes.extend((below as u64).to_le_bytes());
        }
        bytes.extend([0; 8]);
        assert_eq!(bytes.len(), start + node);
    }
    // The root header's symbol table message and the cached copy of it, in the superblock, name the tree.
    let old = places(&bytes, b"TREE");
    let end = bytes.len() as u64;
    put(&mut bytes, 40, &end.to_le_bytes());
    for tree in old.into_iter().filter(|&tree| tree < first) {
        for at in places(&bytes[..first], &(tree as u64).to_le_bytes()) {
            put(&mut bytes, at, &(first as u64).to_le_bytes()[..widths]);
        }
    }
    has(&errors(bytes), "group B-tree");
}

/// Continuations that overlap: each block is nearly the whole file.
#[test]
fn a_header_whose_blocks_overlap() {
    let mut bytes = vec![0; 1 << 16];
    let file = seed("old-groups");
    bytes[..96].copy_from_slice(&file[..96]);
    let end = bytes.len() as u64;
    put(&mut bytes, 40, &end.to_le_bytes());
    put(&mut bytes, 64, &96u64.to_le_bytes());
    // A header of the first version whose messages are all continuations.
    put(&mut bytes, 96, &[1, 0, 0xff, 0xff, 1, 0, 0, 0]);
    put(&mut bytes, 104, &60_000u32.to_le_bytes());
    for nth in 0..2400u64 {
        let at = 112 + 24 * nth as usize;
        put(&mut bytes, at, &[0x10, 0, 16, 0, 0, 0, 0, 0]);
        put(&mut bytes, at + 8, &(112 + 24 * nth + 24).to_le_bytes());
        put(&mut bytes, at + 16, &(24 * (2000u64.saturating_sub(nth))).to_le_bytes());
    }
    has(&errors(bytes), "object header");
}

/// A tree of the second kind that says it has 65535 levels: recursion would not end before the stack does.
#[test]
fn a_tree_deeper_than_any() {
    let mut bytes = seed("dense");
    for at in places(&bytes, b"BTHD") {
        put(&mut bytes, at + 12, &[0xff, 0xff]);
    }
    repair_file(&mut bytes);
    has(&errors(bytes), "B-tree header (version 2)");
}

/// A contiguous dataset whose elements have gigabytes each: nothing is taken before the file is known to have them.
#[test]
fn values_larger_than_their_file() {
    let bytes = seed("virtual");
    let file = open(bytes.clone()).unwrap();
    let Node::Dataset(dataset) = file.get("source 0").unwrap() else { panic!("a dataset") };
    let header = dataset.space();
    assert_eq!(header.npoints(), 4);
    // The size of the type: `10 08 00 00` and four bytes of size, the first after the front of its header.
    let mut bytes = bytes;
    let start = Node::Dataset(dataset).address() as usize;
    let class = start + places(&bytes[start..], &[0x10, 0x08, 0, 0, 4, 0, 0, 0])[0];
    put(&mut bytes, class + 4, &0xc800_0004u32.to_le_bytes());
    repair_file(&mut bytes);
    let file = open(bytes).unwrap();
    let begin = Instant::now();
    let error = file.dataset("source 0").and_then(|dataset| dataset.read_stored()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(matches!(cause::file_error(&error), Some(FileError::Outside { .. })), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(2));
}

/// Names of old groups whose lengths have four bytes, and text in their heaps.
#[test]
fn a_heap_of_short_lengths() {
    let file = open(seed("small-widths")).unwrap();
    let group = file.get("group").unwrap();
    let text = group.attributes().unwrap().remove(0).unwrap();
    let heap = file.heap();
    let found = hyperslab::dtype::Source::sequence(&heap, &text.data, 1).unwrap().unwrap();
    assert_eq!(&found.bytes[..found.count], b"vlen");
}

/// A record of a chunk that is nowhere: its elements were never written.
#[test]
fn a_chunk_tree_with_a_record_of_no_chunk() {
    let mut bytes = seed("indexes");
    let read = |bytes: Vec<u8>| open(bytes).unwrap().dataset("both ways").unwrap().read::<u16>().unwrap();
    let whole = read(bytes.clone());
    // Records of plain chunks begin with the address; the first one is of the first chunk.
    let leaf = *places(&bytes, b"BTLF\0\x0a").first().unwrap();
    put(&mut bytes, leaf + 6, &[0xff; 8]);
    repair_file(&mut bytes);
    let without: Vec<u16> = (0..60).map(|at| if at / 6 < 3 && at % 6 < 4 { 0 } else { whole[at] }).collect();
    assert_eq!(read(bytes.clone()), without);
    let file = open(bytes).unwrap();
    let dataset = file.dataset("both ways").unwrap();
    let mut points = dataset.space();
    points.select_points(&[0, 1, 9, 5]).unwrap();
    assert_eq!(dataset.read_selection::<u16>(&points).unwrap(), [0, 59]);
}
