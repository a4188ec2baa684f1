//! Memory with a file behind it, and its limits.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::allow_attributes,
    missing_docs
)]

mod common;

use common::Scratch;
use hyperslab_driver::{Driver, Memory, Transfer, Why};

#[test]
fn the_file_changes_only_on_sync() {
    let scratch = Scratch::new("backed");
    let path = scratch.path("a.bin");
    let memory = Memory::backed_by(&path).unwrap();
    memory.write_at(3, b"abc", &Transfer::default()).unwrap();
    assert!(!path.exists());
    memory.sync().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0abc");
    memory.set_len(4).unwrap();
    drop(memory);
    let again = Memory::backed_by(&path).unwrap();
    assert_eq!(again.len().unwrap(), 6);
    again.set_len(1).unwrap();
    again.sync().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\0");
}

#[test]
fn more_than_there_is_memory_for_is_an_error() {
    let memory = Memory::new();
    assert!(matches!(memory.set_len(1 << 62).unwrap_err().why, Why::Io(_)));
    assert!(memory.write_at(u64::MAX, b"ab", &Transfer::default()).is_err());
    assert_eq!(memory.len().unwrap(), 0);
}
