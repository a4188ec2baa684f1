//! Threads that read, write and resize the same datasets at once: each row is written as a whole, by one thread, with ever larger numbers. So a
//! reader sees whole rows whose numbers never fall, or the fill value in rows that were cut off since.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, Error, OpenOptions, Slice, driver::Memory, s};

const DATASETS: usize = 20;
const ROWS: u64 = 24;
const WIDTH: u64 = 96;
/// Rows from here on come and go.
const KEPT: u64 = 20;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn row(row: u64) -> Slice {
    s![row, ..]
}

struct Shared {
    datasets: Vec<Dataset>,
    /// What was written to each row, at least.
    written: Vec<Vec<AtomicI64>>,
    done: AtomicBool,
}

impl Shared {
    /// Writes a row that belongs to this thread.
    fn write(&self, dataset: usize, at: u64, number: i64) {
        let values = vec![number; WIDTH as usize];
        // Whoever selects values while the dataset changes its size is told so.
        while let Err(why) = self.datasets[dataset].write_slice(row(at), &values) {
            assert!(matches!(why, Error::Slice(_)), "{why}");
        }
        self.written[dataset][at as usize].store(number, Ordering::SeqCst);
    }

    fn read(&self, dataset: usize, rng: &mut Rng) {
        let first = rng.u64(..KEPT);
        let last = rng.u64(first..KEPT);
        let before: Vec<i64> =
            (first..=last).map(|at| self.written[dataset][at as usize].load(Ordering::SeqCst)).collect();
        let values: Vec<i64> = self.datasets[dataset].read_slice(s![first..=last, ..]).unwrap();
        for (values, before) in values.chunks_exact(WIDTH as usize).zip(before) {
            assert!(values.iter().all(|value| *value == values[0]), "a row in two halves: {values:?}");
            assert!(values[0] >= before, "{} after {before}", values[0]);
        }
    }

    fn resize(&self, dataset: usize, rng: &mut Rng) {
        self.datasets[dataset].resize([rng.u64(KEPT..=ROWS), WIDTH]).unwrap();
        // Others may have resized it meanwhile, but what is there is whole.
        let _ = self.datasets[dataset].write_slice(row(KEPT), &vec![-5i64; WIDTH as usize]);
    }
}

#[test]
fn every_read_is_explained_by_some_order() {
    let (threads, seconds) = (setting("HYPERSLAB_THREADS", 4), setting("HYPERSLAB_SECONDS", 3));
    // A few chunks of each dataset fit.
    let cache = CacheConfig::default().bytes(64 << 10).reserve(2 << 10);
    let storage = Arc::new(Memory::new());
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
    let make = |nth: usize| {
        let new = file.root().unwrap().new_dataset::<i64>().shape([ROWS, WIDTH]).max_shape([Some(ROWS), Some(WIDTH)]);
        let new = new.chunks([3, 20 + nth as u64]);
        if nth.is_multiple_of(3) { new } else { new.deflate(1) }.create(format!("d{nth}")).unwrap()
    };
    let datasets: Vec<Dataset> = (0..DATASETS).map(make).collect();
    let written = (0..DATASETS).map(|_| (0..ROWS).map(|_| AtomicI64::new(0)).collect()).collect();
    let shared = Shared { datasets, written, done: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (shared, file) = (&shared, &file);
            scope.spawn(move || {
                let (mut rng, mut number) = (Rng::with_seed(thread), 0);
                while !shared.done.load(Ordering::Relaxed) {
                    let dataset = rng.usize(..DATASETS);
                    match rng.u8(..32) {
                        0..14 => {
                            number += 1;
                            let own = (0..KEPT).filter(|at| at % threads == thread).collect::<Vec<_>>();
                            shared.write(dataset, own[rng.usize(..own.len())], number);
                        }
                        14..29 => shared.read(dataset, &mut rng),
                        29 => shared.resize(dataset, &mut rng),
                        30 => shared.datasets[dataset].evict().unwrap(),
                        _ => file.flush().unwrap(),
                    }
                    let seen = file.cache_statistics();
                    assert!(seen.peak_bytes <= cache.limits().active, "{seen:?}");
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        shared.done.store(true, Ordering::Relaxed);
    });
    let seen = file.cache_statistics();
    println!("{seen:?}");
    assert!(seen.hits > 100 && seen.evictions > 100, "{seen:?}");
    let Shared { datasets, written, .. } = shared;
    drop(datasets);
    file.close().unwrap();
    let file = hyperslab::File::open_driver(storage).unwrap();
    for (nth, rows) in written.iter().enumerate() {
        let dataset = file.dataset(format!("d{nth}")).unwrap();
        for at in 0..KEPT {
            let values: Vec<i64> = dataset.read_slice(row(at)).unwrap();
            assert_eq!(values, vec![rows[at as usize].load(Ordering::SeqCst); WIDTH as usize]);
        }
    }
}
