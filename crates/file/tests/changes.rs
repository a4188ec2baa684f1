//! Blocks that change: what is read before and after a flush, and what the storage has when.

use std::{cell::Cell, sync::Arc};

use hyperslab_driver::{Driver, Log, Memory, Operation, Record, Transfer};
use hyperslab_file::{Block, CreateOptions, Error, Extent, Kind, OpenFile, OpenOptions, Owner, Result, Seal};
use hyperslab_format::{object_header::Prefix, superblock::Root, version::LibVersion};

type Storage = Arc<Log<Memory>>;

/// A new file with an empty root header.
fn new_file() -> (Storage, OpenFile) {
    let storage = Arc::new(Log::new(Memory::new()));
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
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
    file.owned(Owner::FILE)
        .edit("block", address, 100, |bytes| {
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
fn bytes_that_nothing_names_are_written_alone() {
    let (storage, file) = new_file();
    let address = file.allocate(Kind::Metadata, 1000).unwrap();
    let first = |bytes: &[u8]| [bytes[10], bytes[20], bytes[500]];
    let is_write = |record: &&Record| matches!(record.operation, Operation::Write | Operation::WriteVector);
    let written = || storage.records().iter().filter(is_write).map(Record::bytes).sum::<u64>();
    file.put(address, vec![1; 1000]).unwrap();
    storage.clear();
    let now = file.owned(Owner::FILE).amend("block", (address, 1000), &[(10, &[2; 4])]).unwrap();
    assert_eq!((first(&now), written()), ([2, 1, 1], 0), "the block waits");
    file.flush().unwrap();
    storage.clear();
    let now = file.owned(Owner::FILE).amend("block", (address, 1000), &[(20, &[3; 4]), (500, &[4; 8])]).unwrap();
    assert_eq!((first(&now), file.is_changed(address)), ([2, 3, 4], false));
    assert_eq!(first(&file.metadata("block", address, 1000).unwrap()), [2, 3, 4]);
    file.flush().unwrap();
    assert_eq!(written(), 12);
    assert_eq!(first(&again(&storage).metadata("block", address, 1000).unwrap()), [2, 3, 4]);
    assert!(file.owned(Owner::FILE).amend("block", (address, 1000), &[(998, &[5; 4])]).is_err(), "that is not in it");
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
    file.order_within(other, old).unwrap();
    assert!(file.order_within(old, other).is_err(), "a cycle");
    file.flush().unwrap();
    let is_write = |record: &Record| matches!(record.operation, Operation::Write | Operation::WriteVector);
    let written: Vec<u64> = storage.records().iter().filter(|one| is_write(one)).map(|one| one.parts[0].0).collect();
    assert_eq!(written, [fresh, 0, other, old]);
}

#[test]
fn an_order_through_a_block_that_is_freed_stays() {
    let (storage, file) = new_file();
    let blocks = [(); 4].map(|()| file.allocate(Kind::Metadata, 10).unwrap());
    blocks.iter().for_each(|&block| file.put(block, vec![1; 10]).unwrap());
    file.flush().unwrap();
    storage.clear();
    blocks.iter().for_each(|&block| file.put(block, vec![2; 10]).unwrap());
    for pair in [3, 1, 2, 0].windows(2) {
        file.order_within(blocks[pair[0]], blocks[pair[1]]).unwrap();
    }
    file.free(blocks[1], 20).unwrap();
    assert!(file.order_within(blocks[0], blocks[3]).is_err(), "a cycle");
    file.flush().unwrap();
    let is_write = |record: &Record| matches!(record.operation, Operation::Write | Operation::WriteVector);
    let written: Vec<u64> = storage.records().iter().filter(|one| is_write(one)).map(|one| one.parts[0].0).collect();
    assert_eq!(written, [blocks[3], blocks[0]]);
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
    let before = storage.len(&Transfer::default()).unwrap();
    let failed = file.operate(|| {
        file.allocate(Kind::Raw, 10)?;
        Err::<(), _>(Error::Refused("half way".into()))
    });
    assert!(failed.is_err());
    assert!(file.flush().unwrap_err().to_string().contains("half way"));
    assert_eq!(storage.len(&Transfer::default()).unwrap(), before);
    again(&storage);
}

/// Code of users runs in operations: filters, and values that encode themselves.
#[test]
fn a_panic_in_an_operation_poisons_the_file() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    for in_attempt in [false, true] {
        let (storage, file) = new_file();
        let panics = || -> Result<(), Error> {
            file.allocate(Kind::Raw, 5000)?;
            panic!("as it should be")
        };
        let operation = || file.operate(|| if in_attempt { file.tentative(panics) } else { panics() });
        assert!(catch_unwind(AssertUnwindSafe(operation)).is_err());
        assert!(file.flush().unwrap_err().to_string().contains("panicked"));
        assert!(file.operate(|| Ok::<_, Error>(())).is_err());
        // The attempt is over, and others may read.
        drop(file.reading());
        file.tentative(|| Ok::<_, Error>(())).unwrap();
        again(&storage);
    }
}

#[test]
fn what_fails_after_the_file_is_whole_does_not_poison_it() {
    let (storage, file) = new_file();
    let failed = file.operate(|| {
        let address = file.allocate(Kind::Raw, 5000)?;
        file.write_raw("values", &[(address, &[1; 5000])])?;
        file.mark_whole();
        file.tentative(|| {
            file.allocate(Kind::Raw, 5000)?;
            Err::<(), _>(Error::Refused("no space".into()))
        })
    });
    assert!(failed.is_err());
    file.flush().unwrap();
    let failed = file.operate(|| {
        file.mark_whole();
        file.allocate(Kind::Raw, 10)?;
        Err::<(), _>(Error::Refused("half way".into()))
    });
    assert!(failed.is_err() && file.flush().is_err());
    again(&storage);
}

#[test]
fn pieces_of_a_block_are_taken_back_after_the_flush_unless_the_block_is_freed() {
    let (storage, file) = new_file();
    let (kept, freed) = (file.allocate(Kind::Metadata, 10).unwrap(), file.allocate(Kind::Metadata, 10).unwrap());
    file.put(kept, vec![1; 10]).unwrap();
    file.put(freed, vec![1; 10]).unwrap();
    let clear = |file: &OpenFile, address: u64, pieces: &[(u64, u64)]| {
        file.owned(Owner::FILE)
            .edit("block", address, 10, |bytes| {
                pieces.iter().for_each(|&(start, len)| bytes[start as usize..(start + len) as usize].fill(0));
                Ok(())
            })
            .map(drop)
    };
    file.free_after_flush(kept, (1, 2), clear).unwrap();
    file.free_after_flush(kept, (5, 1), clear).unwrap();
    file.free_after_flush(freed, (5, 1), clear).unwrap();
    file.free(freed, 10).unwrap();
    assert_eq!(file.metadata("block", kept, 10).unwrap(), [1; 10]);
    file.flush().unwrap();
    assert_eq!(again(&storage).metadata("block", kept, 10).unwrap(), [1; 10]);
    assert_eq!(file.metadata("block", kept, 10).unwrap(), [1, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
    file.close().unwrap();
    assert_eq!(again(&storage).metadata("block", kept, 10).unwrap(), [1, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
}

#[test]
fn freeing_a_block_looks_at_no_pieces_of_others() {
    const BLOCKS: u64 = 60_000;
    let (_, file) = new_file();
    let start = file.allocate(Kind::Metadata, 16 * BLOCKS).unwrap();
    let at = |nth: u64| start + 16 * nth;
    let never = |_: &OpenFile, _: u64, _: &[(u64, u64)]| Err(Error::Refused("its block was freed".into()));
    (0..BLOCKS).for_each(|nth| file.free_after_flush(at(nth), (0, 8), never).unwrap());
    let begun = std::time::Instant::now();
    // From the last one on, and the last of all blocks with the first.
    (1..BLOCKS / 2).rev().for_each(|nth| file.free(at(nth), 16).unwrap());
    file.free(at(BLOCKS / 2), 16 * (BLOCKS - BLOCKS / 2)).unwrap();
    file.free(at(0), 16).unwrap();
    // With all pieces for each block it would be some billions of steps.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    file.flush().unwrap();
}

/// The first byte of a block; counts how often one is decoded.
#[derive(Default)]
struct Counted(Cell<u32>);

impl Block for Counted {
    type Value = u8;
    const WHAT: &'static str = "block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::None
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(10)
    }

    fn decode(&self, _: &OpenFile, _: u64, bytes: &Arc<Vec<u8>>) -> Result<u8> {
        self.0.set(self.0.get() + 1);
        Ok(bytes[0])
    }
}

#[test]
fn what_a_block_says_is_kept_until_it_changes() {
    let (_, file) = new_file();
    let address = file.allocate(Kind::Metadata, 10).unwrap();
    let block = Counted::default();
    let first = || (*file.load(&block, address).unwrap(), block.0.get());
    file.put(address, vec![1; 10]).unwrap();
    assert_eq!([first(), first()], [(1, 1), (1, 1)]);
    file.flush().unwrap();
    assert_eq!(first(), (1, 1), "a flush changes nothing");
    file.owned(Owner::FILE)
        .edit("block", address, 10, |bytes| {
            bytes[0] = 2;
            Ok(())
        })
        .unwrap();
    assert_eq!(first(), (2, 2));
    file.owned_by(address).put_decoded(address, Arc::new(vec![3; 10]), Arc::new(3u8)).unwrap();
    assert_eq!(first(), (3, 2));
    assert_eq!((file.load_once(&block, address).unwrap(), block.0.get()), (3, 3), "only for this caller");
    // The same block as another structure is decoded once more.
    file.owned_by(address).put_decoded(address, Arc::new(vec![4; 10]), Arc::new("four")).unwrap();
    assert_eq!(first(), (4, 4));
}

#[test]
fn small_values_wait_for_a_read_or_a_flush() {
    let (storage, file) = new_file();
    let places: Vec<u64> = (0..10).map(|_| file.allocate(Kind::Raw, 8).unwrap()).collect();
    let write = |value: u8| {
        storage.clear();
        places.iter().for_each(|&place| file.write_raw("values", &[(place, &[value; 8])]).unwrap());
        assert_eq!(storage.counts().writes, 0);
    };
    write(1);
    file.write_raw("values", &[(places[3], &[2; 8])]).unwrap();
    let mut read = [0; 80];
    file.read_raw("values", places.iter().copied().zip(read.chunks_mut(8)).collect()).unwrap();
    assert_eq!(storage.counts().writes, 1);
    assert!(read.iter().enumerate().all(|(nth, byte)| *byte == if nth / 8 == 3 { 2 } else { 1 }), "{read:?}");
    write(4);
    file.flush().unwrap();
    assert_eq!(again(&storage).metadata("values", places[9], 8).unwrap(), [4; 8]);
}
