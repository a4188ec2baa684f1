//! Files in memory that remember what was written.

use std::sync::Arc;

use hyperslab_driver::{Change, Driver, Tape, Transfer};
use hyperslab_file::{OpenFile, OpenOptions};
use hyperslab_format::{
    Superblock, Widths,
    superblock::Root,
    symbol_table::{Cache, Entry},
    version::LibVersion,
};

/// What tests want of a tape.
pub(crate) trait Played {
    /// What it holds now.
    fn content(&self) -> Vec<u8>;
    /// The changes so far, which are forgotten.
    fn take(&self) -> Vec<Change>;
}

impl Played for Tape {
    fn content(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len(&Transfer::default()).unwrap() as usize];
        self.read_at(0, &mut bytes, &Transfer::default()).unwrap();
        bytes
    }

    fn take(&self) -> Vec<Change> {
        let changes = self.changes();
        self.cut().unwrap();
        changes
    }
}

/// What the storage has after each of the changes, beginning with none.
pub(crate) fn prefixes(before: &[u8], changes: &[Change], mut each: impl FnMut(usize, &[u8])) {
    let mut bytes = before.to_vec();
    each(0, &bytes);
    for (nth, change) in changes.iter().enumerate() {
        change.apply(&mut bytes);
        each(nth + 1, &bytes);
    }
}

/// The Ks of a superblock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ks {
    pub(crate) leaf: u16,
    pub(crate) internal: u16,
    pub(crate) chunks: u16,
}

pub(crate) fn superblock(ks: Ks) -> Superblock {
    Superblock {
        version: 1,
        widths: Widths::EIGHT,
        flags: 0,
        base: 0,
        free_space: None,
        end_of_file: Some(2048),
        extension: None,
        driver_info: None,
        root: Root::Entry(Entry { name: 0, header: Some(1024), cache: Cache::Nothing }),
        group_leaf_k: ks.leaf,
        group_internal_k: ks.internal,
        chunk_internal_k: ks.chunks,
    }
}

/// A file without objects, open for writing.
pub(crate) fn new_file(ks: Ks) -> (Arc<Tape>, OpenFile) {
    let mut bytes = superblock(ks).encode().unwrap();
    bytes.resize(2048, 0);
    open(bytes)
}

pub(crate) fn open(bytes: Vec<u8>) -> (Arc<Tape>, OpenFile) {
    let storage = Arc::new(Tape::from(bytes));
    let file = OpenFile::open_writable(storage.clone(), &OpenOptions::default(), LibVersion::Earliest).unwrap();
    (storage, file)
}
