//! Drivers that do as little as they may, and directories that vanish.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_driver::{
    Capabilities, Driver, Memory, MemoryType, ReadPart, Result, SelectionPair, Transfer, WritePart,
};

/// Knows single ranges only.
#[derive(Default)]
pub struct Plain(pub Memory);

/// Knows ranges and vectors.
#[derive(Default)]
pub struct VectorOnly(pub Memory);

macro_rules! ranges {
    () => {
        fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
            self.0.read_at(addr, buf, transfer)
        }
        fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
            self.0.write_at(addr, buf, transfer)
        }
        fn len(&self, transfer: &Transfer) -> Result<u64> {
            self.0.len(transfer)
        }
        fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
            self.0.set_len(len, transfer)
        }
        fn sync(&self, transfer: &Transfer) -> Result<()> {
            self.0.sync(transfer)
        }
    };
}

impl Driver for Plain {
    ranges!();
}

impl Driver for VectorOnly {
    ranges!();
    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.0.read_vector(parts, transfer)
    }
    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.0.write_vector(parts, transfer)
    }
}

/// Tells each second request that it is of metadata, and the others that they are of values.
pub struct Kinds<D>(D, AtomicU64);

impl<D> Kinds<D> {
    pub fn new(below: D) -> Self {
        Kinds(below, AtomicU64::new(0))
    }

    fn next(&self, transfer: &Transfer) -> Transfer {
        let is_value = self.1.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        transfer.clone().with_kind(if is_value { MemoryType::RawData } else { MemoryType::ObjectHeader })
    }
}

impl<D: Driver> Driver for Kinds<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.0.read_at(addr, buf, &self.next(transfer))
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.0.write_at(addr, buf, &self.next(transfer))
    }
    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.0.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.0.set_len(len, transfer)
    }
    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.0.sync(transfer)
    }
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.0.read_vector(parts, &self.next(transfer))
    }
    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        self.0.write_vector(parts, &self.next(transfer))
    }
    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.0.read_selection(pairs, bufs, &self.next(transfer))
    }
    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.0.write_selection(pairs, bufs, &self.next(transfer))
    }
}

/// A directory of its own for each test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hyperslab-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
