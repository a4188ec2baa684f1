//! Chunks that will leave soon are encoded in the background, and written as they were last.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hyperslab::{
    CacheConfig, File, OpenOptions, ReadAhead,
    driver::{Damage, Fault, Memory, Target},
    s,
};

const SIDE: u64 = 64;
const CHUNKS: u64 = 40;

#[test]
fn what_was_encoded_ahead_of_time_and_changed_afterwards_is_written_as_it_is() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let storage = Arc::new(Memory::new());
    let cache = CacheConfig::default().bytes(16 * 4 * (SIDE * SIDE) as usize);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<u32>().shape([CHUNKS * SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(1);
    let dataset = new.create("d").unwrap();
    let mut twin = vec![0u32; (CHUNKS * SIDE * SIDE) as usize];
    let mut random = fastrand::Rng::with_seed(3);
    let begun = Instant::now();
    // Which chunks are encoded when is up to the threads; some are in any order.
    while file.cache_statistics().encoded_ahead < 20 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", file.cache_statistics());
        for _ in 0..200 {
            let (row, value) = (random.u64(..CHUNKS * SIDE), random.u32(..));
            dataset.write_slice(s![row, 1..], &[value; SIDE as usize - 1]).unwrap();
            twin[(row * SIDE + 1) as usize..((row + 1) * SIDE) as usize].fill(value);
        }
        let row = random.u64(..CHUNKS * SIDE);
        let read: Vec<u32> = dataset.read_slice(s![row, ..]).unwrap();
        assert_eq!(read, twin[(row * SIDE) as usize..((row + 1) * SIDE) as usize]);
    }
    file.close().unwrap();
    let after = File::open_driver(storage).unwrap();
    assert_eq!(after.dataset("d").unwrap().read::<u32>().unwrap(), twin);
}

#[test]
fn chunks_that_come_next_are_there_when_they_are_read() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let storage = Arc::new(Memory::new());
    let file = File::create_on(storage.clone()).unwrap();
    let values: Vec<u32> = (0..(CHUNKS * SIDE * SIDE) as u32).map(|nth| nth.wrapping_mul(nth)).collect();
    let new = file.root().unwrap().new_dataset::<u32>().shape([CHUNKS * SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(1);
    new.write("d", &values).unwrap();
    file.close().unwrap();
    for (read_ahead, most) in [(true, CHUNKS * 3 / 4), (false, CHUNKS)] {
        let cache = CacheConfig::default().bytes(16 * 4 * (SIDE * SIDE) as usize).read_ahead(read_ahead);
        let file = OpenOptions::new().cache(cache).open_on(storage.clone()).unwrap();
        let dataset = file.dataset("d").unwrap();
        for row in 0..CHUNKS * SIDE {
            let read: Vec<u32> = dataset.read_slice(s![row, ..]).unwrap();
            assert_eq!(read, values[(row * SIDE) as usize..((row + 1) * SIDE) as usize]);
            // A program that does something with what it reads.
            thread::sleep(Duration::from_micros(200));
        }
        let seen = file.cache_statistics();
        assert!(seen.misses <= most && seen.peak_bytes <= cache.limits().active, "{seen:?}");
        assert!(read_ahead || seen.misses == CHUNKS, "{seen:?}");
    }
}

/// A window whose request fails does not count as read: the next read of the program asks for it again.
#[test]
fn a_window_that_could_not_be_read_is_read_later() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let storage = Arc::new(Fault::new(Memory::new()));
    let file = File::create_on(storage.clone()).unwrap();
    let values: Vec<u32> = (0..(CHUNKS * SIDE * SIDE) as u32).map(|nth| nth.wrapping_mul(nth)).collect();
    let new = file.root().unwrap().new_dataset::<u32>().shape([CHUNKS * SIDE, SIDE]).chunks([SIDE, SIDE]).deflate(1);
    new.write("d", &values).unwrap();
    file.close().unwrap();
    // A window of 16 chunks.
    let chunk = 4 * (SIDE * SIDE) as usize;
    let cache = CacheConfig::default().bytes(100 * chunk).read_ahead(ReadAhead::Bytes(16 * chunk));
    let file = OpenOptions::new().cache(cache).open_on(storage.clone()).unwrap();
    let dataset = file.dataset("d").unwrap();
    let read = |nth: u64| {
        let read: Vec<u32> = dataset.read_slice(s![nth * SIDE..(nth + 1) * SIDE, ..]).unwrap();
        assert_eq!(read, values[(nth * SIDE * SIDE) as usize..((nth + 1) * SIDE * SIDE) as usize]);
    };
    read(0);
    read(1);
    // The third read passes; the request that it causes in the background does not.
    storage.arm(Target::Reads, 1, Damage::Fail);
    read(2);
    thread::sleep(Duration::from_millis(200));
    storage.disarm();
    assert_eq!(file.cache_statistics().loads, 3, "nothing was read ahead");
    read(3);
    let begun = Instant::now();
    while file.cache_statistics().loads < 20 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", file.cache_statistics());
        thread::sleep(Duration::from_millis(1));
    }
    (4..20).for_each(read);
    assert_eq!(file.cache_statistics().misses, 4, "{:?}", file.cache_statistics());
}
