//! Objects that leave memory when their last handle is dropped.

use std::sync::Arc;

use hyperslab::{
    CacheConfig, Dataset, File, LibVersion, OpenOptions,
    driver::{Log, Memory},
    s,
};

type Storage = Arc<Log<Memory>>;

const DATASETS: usize = 20;
const VALUES: i32 = 10_000;

fn numbers(nth: usize) -> Vec<i32> {
    (0..VALUES).map(|at| at * nth as i32).collect()
}

fn name(nth: usize) -> String {
    format!("numbers {nth}")
}

/// A file with datasets of 100 chunks each.
fn storage(low: LibVersion) -> Storage {
    let storage = Arc::new(Log::new(Memory::new()));
    let file = OpenOptions::new().create().libver_min(low).open_on(storage.clone()).unwrap();
    for nth in 0..DATASETS {
        let new = file.root().unwrap().new_dataset::<i32>().max_shape([None]).chunks([100]).deflate(1);
        new.write(name(nth), &numbers(nth)).unwrap();
    }
    file.close().unwrap();
    storage
}

fn check(dataset: &Dataset, nth: usize) {
    assert_eq!(dataset.read::<i32>().unwrap(), numbers(nth), "dataset {nth}");
}

/// How many requests for bytes some work makes.
fn reads(storage: &Storage, work: impl FnOnce()) -> u64 {
    storage.clear();
    work();
    storage.counts().reads
}

#[test]
fn what_was_closed_is_read_again() {
    for low in [LibVersion::Earliest, LibVersion::V200] {
        for (write, evicts) in [(false, false), (false, true), (true, false), (true, true)] {
            let storage = storage(low);
            let options = OpenOptions::new().cache(CacheConfig::default().bytes(1 << 20));
            let options = if write { options.read_write() } else { options };
            let options = if evicts { options.evict_on_close() } else { options };
            let file = options.open_on(storage.clone()).unwrap();
            check(&file.dataset(name(3)).unwrap(), 3);
            let again = reads(&storage, || check(&file.dataset(name(3)).unwrap(), 3));
            assert_eq!(again > 0, evicts, "{low:?}, {write}: {again} requests");
            file.root().unwrap();
            assert_eq!(file.cache_statistics().bytes == 0, evicts, "{low:?}, {write}");
        }
    }
}

#[test]
fn what_is_used_stays() {
    let (storage, cache) = (storage(LibVersion::V200), CacheConfig::default().bytes(1 << 20));
    let file = OpenOptions::new().read_write().cache(cache).evict_on_close().open_on(storage.clone()).unwrap();
    let kept = file.dataset(name(1)).unwrap();
    check(&kept, 1);
    check(&file.dataset(name(1)).unwrap(), 1);
    drop(kept.clone());
    file.root().unwrap();
    assert_eq!(reads(&storage, || check(&kept, 1)), 0);
}

#[test]
fn what_was_changed_leaves_with_a_flush() {
    let storage = storage(LibVersion::V200);
    let file = OpenOptions::new().read_write().evict_on_close().open_on(storage.clone()).unwrap();
    for nth in 0..DATASETS {
        let dataset = file.dataset(name(nth)).unwrap();
        dataset.write_slice(s![..150], &[-1; 150]).unwrap();
        dataset.resize([VALUES as u64 + 1]).unwrap();
    }
    let look = |file: &File| {
        for nth in 0..DATASETS {
            let now = file.dataset(name(nth)).unwrap().read::<i32>().unwrap();
            assert_eq!((now[..150].to_vec(), &now[150..VALUES as usize]), (vec![-1; 150], &numbers(nth)[150..]));
        }
    };
    look(&file);
    file.flush().unwrap();
    assert_eq!(file.cache_statistics().bytes, 0);
    look(&file);
    file.close().unwrap();
    look(&File::open_driver(storage).unwrap());
}

/// Handles come and go in four threads, while a fifth one changes the datasets and flushes.
#[test]
fn threads_open_and_close() {
    let storage = storage(LibVersion::V110);
    let file = OpenOptions::new().read_write().evict_on_close().open_on(storage.clone()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(thread);
                for _ in 0..200 {
                    let (nth, at) = (rng.usize(..DATASETS), rng.u64(..VALUES as u64 - 100));
                    let part = file.dataset(name(nth)).unwrap().read_slice::<i32>(s![at..at + 100]).unwrap();
                    assert_eq!(part, numbers(nth)[at as usize..at as usize + 100]);
                }
            });
        }
        for round in 0..200 {
            let nth = round % DATASETS;
            let dataset = file.dataset(name(nth)).unwrap();
            dataset.write_slice(s![..1000], &numbers(nth)[..1000]).unwrap();
            dataset.set_attribute("round", round as i32).unwrap();
            if round % 10 == 0 {
                file.flush().unwrap();
            }
        }
    });
    file.close().unwrap();
    let file = File::open_driver(storage).unwrap();
    (0..DATASETS).for_each(|nth| check(&file.dataset(name(nth)).unwrap(), nth));
}
