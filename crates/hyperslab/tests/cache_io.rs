//! What the storage is asked when chunks come into the cache and leave it.

use std::sync::Arc;

use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions,
    driver::{Driver, Log, Memory, Operation, Record, Transfer},
    s,
};

const SIDE: u64 = 16;
const CHUNK: usize = 4 * (SIDE * SIDE) as usize;
/// What a chunk takes in the cache.
const HELD: usize = CHUNK + 512;

/// A file on a storage that keeps a log, with a cache for so many chunks, and a dataset of so many.
fn make(cached: usize, chunks: u64) -> (File, Dataset, Arc<Log<Memory>>) {
    let log = Arc::new(Log::new(Memory::new()));
    // A chunk that the encoder in the background has cannot leave with the others.
    let cache = CacheConfig::default().bytes(cached * HELD).encode_ahead(false);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(log.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([chunks * SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(1);
    let dataset = new.create("d").unwrap();
    // All chunks are in the file.
    dataset.write(&(0..(chunks * SIDE * SIDE) as i32).collect::<Vec<_>>()).unwrap();
    dataset.evict().unwrap();
    file.flush().unwrap();
    log.clear();
    (file, dataset, log)
}

fn writes(log: &Log<Memory>) -> Vec<Record> {
    let is_write = |record: &Record| {
        matches!(record.operation, Operation::Write | Operation::WriteVector | Operation::WriteSelection)
    };
    log.records().into_iter().filter(is_write).collect()
}

fn reads(log: &Log<Memory>) -> Vec<Record> {
    let is_read = |record: &Record| record.operation == Operation::ReadVector;
    log.records().into_iter().filter(is_read).collect()
}

#[test]
fn a_cold_read_of_64_chunks_is_one_request_and_a_warm_one_is_none() {
    let (_file, dataset, log) = make(64, 64);
    let column: Vec<i32> = dataset.read_slice(s![.., 3]).unwrap();
    let cold = reads(&log);
    assert_eq!(cold.iter().map(|record| record.parts.len()).collect::<Vec<_>>(), [64]);
    log.clear();
    assert_eq!(dataset.read_slice::<i32>(s![.., 3]).unwrap(), column);
    dataset.read_slice::<i32>(s![5..500, 2..4]).unwrap();
    assert!(log.records().is_empty(), "{:?}", log.records());
}

#[test]
fn a_dataset_that_is_as_large_as_the_cache_fits() {
    let log = Arc::new(Log::new(Memory::new()));
    let cache = CacheConfig::default().bytes(64 * (8 << 10));
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(log.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape([64, 8 << 10]).chunks([1, 8 << 10]).deflate(1);
    let dataset = new.write("d", &vec![7; 64 * (8 << 10)]).unwrap();
    dataset.read_slice::<u8>(s![.., 3]).unwrap();
    log.clear();
    assert_eq!(dataset.read_slice::<u8>(s![.., 5]).unwrap(), [7; 64]);
    assert!(log.records().is_empty(), "{:?}", log.records());
}

#[test]
fn sixteen_changed_chunks_leave_with_one_request_before_the_index_names_them() {
    let (file, dataset, log) = make(16, 32);
    // So large that the space of a few chunks can wait for the next flush.
    file.root().unwrap().new_dataset::<u8>().contiguous().write("large", &vec![0; 1 << 20]).unwrap();
    file.flush().unwrap();
    log.clear();
    let half = 16 * SIDE;
    dataset.write_slice(s![..half, 3], &vec![7; half as usize]).unwrap();
    assert!(writes(&log).is_empty(), "what is changed waits in the cache: {:?}", writes(&log));
    // Others want the place of all.
    log.clear();
    dataset.read_slice::<i32>(s![half.., 3]).unwrap();
    let written = writes(&log);
    assert_eq!(written.len(), 1, "{written:?}");
    assert_eq!((written[0].operation, written[0].parts.len()), (Operation::WriteVector, 16));
    // Until the flush, the index in the file names the old chunks.
    let before = File::open_driver(Arc::new(copy(&log))).unwrap();
    let old: Vec<i32> = before.dataset("d").unwrap().read_slice(s![..half, 3]).unwrap();
    assert_eq!(old, (0..half as i32).map(|row| row * SIDE as i32 + 3).collect::<Vec<_>>());
    file.flush().unwrap();
    let after = File::open_driver(Arc::new(copy(&log))).unwrap();
    assert_eq!(after.dataset("d").unwrap().read_slice::<i32>(s![..half, 3]).unwrap(), vec![7; half as usize]);
}

#[test]
fn a_flush_writes_the_chunks_of_all_datasets_with_one_request() {
    let (file, first, log) = make(32, 8);
    let new = file.root().unwrap().new_dataset::<i32>().shape([8 * SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(1);
    let second = new.create("e").unwrap();
    file.flush().unwrap();
    for dataset in [&first, &second] {
        dataset.write_slice(s![.., 0], &vec![1; 8 * SIDE as usize]).unwrap();
    }
    log.clear();
    file.flush().unwrap();
    let chunks = writes(&log).into_iter().next().unwrap();
    assert_eq!((chunks.operation, chunks.parts.len()), (Operation::WriteVector, 16));
}

#[test]
fn rows_of_a_contiguous_dataset_come_in_blocks_and_leave_in_blocks() {
    let log = Arc::new(Log::new(Memory::new()));
    let cache = CacheConfig::default().bytes(4 << 20);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(log.clone()).unwrap();
    // Blocks of 64 rows of 4 KiB, and the last one is not full.
    let values: Vec<i32> = (0..200 * 1024).collect();
    let dataset = file.root().unwrap().new_dataset::<i32>().shape([200, 1024]).write("d", &values).unwrap();
    file.flush().unwrap();
    log.clear();
    for row in 0..200usize {
        let read: Vec<i32> = dataset.read_slice(s![row as u64, ..]).unwrap();
        assert_eq!(read, values[1024 * row..1024 * (row + 1)]);
    }
    // Of each block, four rows are read by themselves, then all of it.
    let records = log.records();
    assert_eq!(records.len(), 4 * 5, "{records:?}");
    assert_eq!(file.cache_statistics().misses, 4);
    log.clear();
    for row in 0..200 {
        dataset.write_slice(s![row, 1..], &[row; 1023]).unwrap();
    }
    assert!(log.records().is_empty(), "{:?}", log.records());
    file.flush().unwrap();
    let blocks = writes(&log).into_iter().next().unwrap();
    assert_eq!((blocks.operation, blocks.parts.len()), (Operation::WriteVector, 4));
    let after = File::open_driver(Arc::new(copy(&log))).unwrap();
    let expected = (0..200 * 1024).map(|nth| if nth % 1024 == 0 { nth } else { nth / 1024 });
    assert_eq!(after.dataset("d").unwrap().read::<i32>().unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn requests_past_the_cache_leave_nothing_there_and_see_what_is() {
    let (file, dataset, log) = make(16, 16);
    let past = dataset.past_cache();
    let column = |row: u64| row as i32 * SIDE as i32 + 3;
    assert_eq!(past.read_slice::<i32>(s![.., 3]).unwrap(), (0..16 * SIDE).map(column).collect::<Vec<_>>());
    assert_eq!(reads(&log).iter().map(|record| record.parts.len()).collect::<Vec<_>>(), [16]);
    past.write_slice(s![..SIDE, 3], &[-1; SIDE as usize]).unwrap();
    hyperslab::prefetch(&[(&past, &past.space())]).unwrap();
    let seen = file.cache_statistics();
    assert_eq!((seen.bytes, seen.misses), (0, 0));
    // A chunk that is there, and changed there, is what the others see.
    dataset.write_slice(s![SIDE, 3], &[-2]).unwrap();
    assert_eq!(past.read_slice::<i32>(s![SIDE - 1..=SIDE, 3]).unwrap(), [-1, -2]);
    past.write_slice(s![SIDE, 3], &[-3]).unwrap();
    assert_eq!(dataset.read_slice::<i32>(s![SIDE, 3]).unwrap(), [-3]);
    assert_eq!(file.cache_statistics().bytes, HELD);
}

/// What is in the storage now.
fn copy(log: &Log<Memory>) -> Memory {
    let mut bytes = vec![0; log.below_ref().len(&Transfer::default()).unwrap() as usize];
    log.below_ref().read_at(0, &mut bytes, &Transfer::default()).unwrap();
    Memory::from(bytes)
}
