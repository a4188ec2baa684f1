//! A thousand datasets that are open at once share one cache: memory grows with the cache, not with them.

#![cfg(target_os = "linux")]

use std::path::Path;

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, OpenOptions, s};

const DATASETS: usize = 1000;
const SIDE: u64 = 192;
const CHUNK: u64 = 64;
const VALUES: usize = (CHUNK * CHUNK) as usize;
const CACHE: usize = 64 << 20;
/// What the process may have more in memory than before.
const ROOM: u64 = 96 << 20;

/// The bytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Datasets of 144 KiB, 140 MiB together. Nothing is left in memory that could be used again.
fn make(path: &Path) {
    let cache = CacheConfig::default().bytes(0);
    let file = OpenOptions::new().create().truncate().cache(cache).open(path).unwrap();
    let root = file.root().unwrap();
    for nth in 0..DATASETS {
        let values: Vec<i32> = (0..(SIDE * SIDE) as i32).map(|at| nth as i32 + at % 7).collect();
        let new = root.new_dataset::<i32>().shape([SIDE, SIDE]).chunks([CHUNK, CHUNK]).deflate(1);
        new.write(format!("d{nth}"), &values).unwrap();
    }
    file.close().unwrap();
}

#[test]
fn memory_grows_with_the_cache_alone() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("open_at_once.h5");
    make(&path);
    let before = resident();
    let cache = CacheConfig::default().bytes(CACHE);
    let file = OpenOptions::new().read_write().cache(cache).open(&path).unwrap();
    let datasets: Vec<Dataset> = (0..DATASETS).map(|nth| file.dataset(format!("d{nth}")).unwrap()).collect();
    let (mut rng, mut values, mut most) = (Rng::with_seed(4), vec![0i32; VALUES], 0);
    // The number of the last write to each chunk that was written.
    let mut written = std::collections::HashMap::new();
    for nth in 0..12_000 {
        let (dataset, place) = (rng.usize(..DATASETS), [0, 1].map(|_| rng.u64(..SIDE / CHUNK)));
        let [row, column] = place.map(|at| at * CHUNK);
        let part = s![row..row + CHUNK, column..column + CHUNK];
        if rng.bool() {
            datasets[dataset].write_slice(part, &[-nth; VALUES]).unwrap();
            written.insert((dataset, place), -nth);
        } else {
            datasets[dataset].read_slice_into(part, &mut values).unwrap();
            let first = || dataset as i32 + ((row * SIDE + column) % 7) as i32;
            let wanted = written.get(&(dataset, place)).copied().unwrap_or_else(first);
            assert_eq!(values[0], wanted);
        }
        if nth % 100 == 0 {
            most = most.max(resident());
        }
    }
    let (grown, seen) = (most.max(resident()).saturating_sub(before), file.cache_statistics());
    println!("{} MiB more in memory; {seen:?}", grown >> 20);
    assert!(seen.evictions > 1000 && seen.peak_bytes <= cache.limits().active, "{seen:?}");
    assert!((CACHE as u64 / 2..=ROOM).contains(&grown), "{} MiB more in memory; {seen:?}", grown >> 20);
    file.close().unwrap();
    std::fs::remove_file(path).unwrap();
}
