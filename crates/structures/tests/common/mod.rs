//! Files in memory that remember what was written.

#![allow(dead_code)]

use std::sync::{Arc, Mutex};

use hyperslab_driver::{Driver, Memory, Result, Transfer};
use hyperslab_file::{OpenFile, OpenOptions};
use hyperslab_format::{
    Superblock, Widths,
    superblock::Root,
    symbol_table::{Cache, Entry},
    version::Low,
};

/// A storage that keeps every write since it was told to.
pub(crate) struct Recorder {
    memory: Memory,
    writes: Mutex<Vec<Change>>,
}

#[derive(Clone)]
pub(crate) enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Recorder {
    pub(crate) fn content(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.memory.len().unwrap() as usize];
        self.memory.read_at(0, &mut bytes, &Transfer::default()).unwrap();
        bytes
    }

    pub(crate) fn take(&self) -> Vec<Change> {
        std::mem::take(&mut self.writes.lock().unwrap())
    }
}

impl Driver for Recorder {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.memory.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.writes.lock().unwrap().push(Change::Write(addr, buf.to_vec()));
        self.memory.write_at(addr, buf, transfer)
    }

    fn len(&self) -> Result<u64> {
        self.memory.len()
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writes.lock().unwrap().push(Change::Length(len));
        self.memory.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// What the storage has after each of the changes, beginning with none.
pub(crate) fn prefixes(before: &[u8], changes: &[Change], mut each: impl FnMut(usize, &[u8])) {
    let mut bytes = before.to_vec();
    each(0, &bytes);
    for (nth, change) in changes.iter().enumerate() {
        match change {
            Change::Length(len) => bytes.resize(*len as usize, 0),
            Change::Write(at, new) => {
                let end = *at as usize + new.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at as usize..end].copy_from_slice(new);
            }
        }
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
pub(crate) fn new_file(ks: Ks) -> (Arc<Recorder>, OpenFile) {
    let mut bytes = superblock(ks).encode().unwrap();
    bytes.resize(2048, 0);
    open(bytes)
}

pub(crate) fn open(bytes: Vec<u8>) -> (Arc<Recorder>, OpenFile) {
    let storage = Arc::new(Recorder { memory: Memory::from(bytes), writes: Mutex::default() });
    let file = OpenFile::open_writable(storage.clone(), &OpenOptions::default(), Low::Earliest).unwrap();
    (storage, file)
}
