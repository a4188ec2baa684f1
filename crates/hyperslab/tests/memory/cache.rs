//! How much memory a file takes, as the allocator counts it: random reads and writes over far more data than fits in the cache, datasets that come and go.

use std::path::Path;

use fastrand::Rng;
use hyperslab::{CacheConfig, CachePolicy, Dataset, Group, OpenOptions, s};

use crate::counting::{alone, held, peak};

/// Chunks of 64 KiB, 4 MiB a dataset.
const SIDE: u64 = 1024;
const CHUNK: u64 = 128;
const DATASETS: usize = 10;
const CACHE: usize = 2 << 20;
/// What the engine itself has beside chunks: metadata, books about chunks and free space, rooms of threads for coding.
const BESIDE: usize = 1 << 20;

#[test]
fn memory_stays_below_the_active_limit() {
    let _alone = alone();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache_memory.h5");
    for policy in [CachePolicy::Lru, CachePolicy::Mru, CachePolicy::Lfu, CachePolicy::S3Fifo] {
        let cache = CacheConfig::default().bytes(CACHE).policy(policy).reserve(CACHE / 16);
        let file = OpenOptions::new().create().truncate().cache(cache).open(&path).unwrap();
        let make = |nth: usize| {
            let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).chunks([CHUNK, CHUNK]);
            if nth.is_multiple_of(4) { new } else { new.deflate(1) }.create(format!("d{nth}")).unwrap()
        };
        let datasets: Vec<Dataset> = (0..DATASETS).map(make).collect();
        let (mut rng, mut values) = (Rng::with_seed(1), vec![0i32; 4 * CHUNK as usize * CHUNK as usize]);
        let mut round = |count: usize| {
            for _ in 0..count {
                let dataset = &datasets[rng.usize(..DATASETS)];
                let (rows, columns) = (rng.u64(1..=2 * CHUNK), rng.u64(1..=2 * CHUNK));
                let (row, column) = (rng.u64(..SIDE - rows), rng.u64(..SIDE - columns));
                let (part, some) = (s![row..row + rows, column..column + columns], (rows * columns) as usize);
                if rng.bool() {
                    values[..some].fill_with(|| rng.i32(..1000));
                    dataset.write_slice(part, &values[..some]).unwrap();
                } else {
                    dataset.read_slice_into(part, &mut values[..some]).unwrap();
                }
            }
        };
        let ((), grown) = peak(|| round(800));
        let seen = file.cache_statistics();
        println!("{policy:?}: {} KiB more at most, {} KiB as the cache counts", grown >> 10, seen.peak_bytes >> 10);
        assert!(seen.evictions > 300 && seen.peak_bytes <= cache.limits().active, "{seen:?}");
        assert!(grown <= cache.limits().active + BESIDE, "{policy:?}: {grown} bytes more, {seen:?}");
    }
    std::fs::remove_file(path).unwrap();
}

/// Makes something, writes it and deletes it.
type Round = fn(&Group, u64);

#[test]
fn objects_that_were_deleted_leave_nothing_in_memory() {
    let _alone = alone();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache_memory_deleted.h5");
    let rounds: [(&str, Round); 4] = [
        ("chunks", |root, nth| {
            root.new_dataset::<u64>().shape([16]).chunks([8]).write("d", &[nth; 16]).unwrap();
            root.delete("d").unwrap();
        }),
        ("chunks that are read", |root, nth| {
            let dataset = root.new_dataset::<u64>().shape([16]).chunks([8]).write("d", &[nth; 16]).unwrap();
            assert_eq!(dataset.read::<u64>().unwrap(), [nth; 16]);
            root.delete("d").unwrap();
            assert!(dataset.read::<u64>().is_ok(), "as long as there is a handle");
        }),
        ("strings", |root, nth| {
            root.new_dataset::<String>().shape([2]).write("d", &[nth.to_string(), "other".into()]).unwrap();
            root.delete("d").unwrap();
        }),
        ("groups", |root, nth| {
            root.create_group("g/h").unwrap().set_attribute("nth", nth).unwrap();
            root.delete("g").unwrap();
        }),
    ];
    for (kind, round) in rounds {
        // Without a flush, names that went keep their place in the heap of the group, and a note about it.
        for (flush_each, most) in [(u64::MAX, 100), (10, 1)] {
            let file = OpenOptions::new().create().truncate().open(&path).unwrap();
            let root = file.root().unwrap();
            let many = |count: u64| {
                for nth in 0..count {
                    round(&root, nth);
                    if nth % flush_each == flush_each - 1 {
                        file.flush().unwrap();
                    }
                }
            };
            many(1_000);
            let before = held();
            many(10_000);
            let more = held().saturating_sub(before);
            assert!(file.cache_statistics().datasets <= 1, "{kind}: {:?}", file.cache_statistics());
            assert!(more < 10_000 * most, "{kind}, a flush each {flush_each}: {more} bytes are kept of 10,000");
            file.close().unwrap();
        }
    }
}
