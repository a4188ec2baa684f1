//! Blocks that change: what is read before and after a flush, and what the storage has when.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Arc;

use hyperslab_driver::{Driver, Log, Memory, Operation, Record};
use hyperslab_file::{CreateOptions, Error, Kind, OpenFile, OpenOptions};
use hyperslab_format::{object_header::Prefix, superblock::Root, version::Low};

type Storage = Arc<Log<Memory>>;

/// A new file with an empty root header.
fn new_file() -> (Storage, OpenFile) {
    let storage = Arc::new(Log::new(Memory::new()));
    let mut create = CreateOptions::default();
    create.low = Low::V110;
    let file = OpenFile::create(storage.clone(), &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.flush().unwrap();
    (storage, file)
}

fn again(storage: &Storage) -> OpenFile {
    let mut options = OpenOptions::default();
    options.alone = true;
    OpenFile::open(storage.clone(), &options).unwrap()
}

#[test]
fn changes_are_seen_at_once_and_by_others_after_a_flush() {
    let (storage, file) = new_file();
    let address = file.allocate(Kind::Metadata, 100).unwrap();
    file.put(address, vec![1; 100]).unwrap();
    file.edit("block", address, 100, |bytes| {
        bytes[50] = 2;
        Ok(())
    })
    .unwrap();
    assert_eq!(file.metadata("block", address, 100).unwrap()[49..52], [1, 2, 1]);
    assert_eq!(file.metadata("block", address + 40, 20).unwrap()[9..12], [1, 2, 1], "from the middle");
    assert_eq!(again(&storage).metadata("block", address, 100).unwrap(), [0; 100], "not there yet");
    file.flush().unwrap();
    assert_eq!(again(&storage).metadata("block", address, 100).unwrap()[49..52], [1, 2, 1]);
}

#[test]
fn fresh_blocks_and_the_superblock_go_before_changed_ones() {
    let (storage, file) = new_file();
    let (old, other) = (file.allocate(Kind::Metadata, 10).unwrap(), file.allocate(Kind::Metadata, 10).unwrap());
    file.put(old, vec![1; 10]).unwrap();
    file.put(other, vec![1; 10]).unwrap();
    file.flush().unwrap();
    storage.clear();
    let fresh = file.allocate(Kind::Metadata, 5000).unwrap();
    file.put(old, vec![3; 10]).unwrap();
    file.put(other, vec![3; 10]).unwrap();
    file.put(fresh, vec![2; 5000]).unwrap();
    file.order(other, old).unwrap();
    assert!(file.order(old, other).is_err(), "a cycle");
    file.flush().unwrap();
    let is_write = |record: &Record| matches!(record.operation, Operation::Write | Operation::WriteVector);
    let written: Vec<u64> = storage.records().iter().filter(|one| is_write(one)).map(|one| one.parts[0].0).collect();
    assert_eq!(written, [fresh, 0, other, old]);
}

#[test]
fn what_the_file_names_is_given_out_again_after_a_flush_only() {
    let (_, file) = new_file();
    let old = file.allocate(Kind::Raw, 4096).unwrap();
    file.flush().unwrap();
    file.free(old, 4096).unwrap();
    let other = file.allocate(Kind::Raw, 4096).unwrap();
    assert_ne!(other, old);
    file.free(other, 4096).unwrap();
    assert_eq!(file.allocate(Kind::Raw, 4096).unwrap(), other, "nothing names it");
    file.flush().unwrap();
    assert_eq!(file.allocate(Kind::Raw, 4096).unwrap(), old);
}

#[test]
fn an_operation_that_fails_in_the_middle_poisons_the_file() {
    let (storage, file) = new_file();
    let refused = file.operate(|| Err::<(), _>(Error::Refused("no".into())));
    assert!(matches!(refused, Err(Error::Refused(_))));
    let before = storage.len().unwrap();
    let failed = file.operate(|| {
        file.allocate(Kind::Raw, 10)?;
        Err::<(), _>(Error::Refused("half way".into()))
    });
    assert!(failed.is_err());
    assert!(file.flush().unwrap_err().to_string().contains("half way"));
    assert_eq!(storage.len().unwrap(), before);
    again(&storage);
}

#[test]
fn pieces_of_a_block_are_taken_back_after_the_flush_unless_the_block_is_freed() {
    let (storage, file) = new_file();
    let (kept, freed) = (file.allocate(Kind::Metadata, 10).unwrap(), file.allocate(Kind::Metadata, 10).unwrap());
    file.put(kept, vec![1; 10]).unwrap();
    file.put(freed, vec![1; 10]).unwrap();
    let clear = |file: &OpenFile, address: u64, pieces: &[(u64, u64)]| {
        file.edit("block", address, 10, |bytes| {
            pieces.iter().for_each(|&(start, len)| bytes[start as usize..(start + len) as usize].fill(0));
            Ok(())
        })
    };
    file.give_up(kept, (1, 2), clear).unwrap();
    file.give_up(kept, (5, 1), clear).unwrap();
    file.give_up(freed, (5, 1), clear).unwrap();
    file.free(freed, 10).unwrap();
    assert_eq!(file.metadata("block", kept, 10).unwrap(), [1; 10]);
    file.flush().unwrap();
    assert_eq!(again(&storage).metadata("block", kept, 10).unwrap(), [1; 10]);
    assert_eq!(file.metadata("block", kept, 10).unwrap(), [1, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
    file.close().unwrap();
    assert_eq!(again(&storage).metadata("block", kept, 10).unwrap(), [1, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
}
