//! Threads that write texts to different parts of datasets, beside others that read and flush.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, OpenOptions, driver::Memory, s};

use super::collections;

const WRITERS: u64 = 4;
const COLUMNS: u64 = 50;
const STEPS: u64 = 400;

fn text(writer: u64, nth: u64) -> String {
    format!("{writer}: {}", "x".repeat((nth * 7 % 40) as usize) + &nth.to_string())
}

/// Writes to a row of its own and to a dataset of its own, and reads what it wrote.
fn write(row: u64, shared: &Dataset, own: &Dataset) -> Vec<String> {
    let mut rng = Rng::with_seed(row);
    let mut wanted = vec![String::new(); COLUMNS as usize];
    for nth in 0..STEPS {
        let from = rng.u64(..COLUMNS);
        let to = rng.u64(from + 1..=(from + 5).min(COLUMNS));
        let texts: Vec<String> = (from..to).map(|at| text(row, nth * 100 + at)).collect();
        shared.write_slice(s![row, from..to], &texts).unwrap();
        own.write_slice(from..to, &texts).unwrap();
        wanted[from as usize..to as usize].clone_from_slice(&texts);
        if nth % 5 == 0 {
            assert_eq!(shared.read_slice::<String>(s![row, ..]).unwrap(), wanted);
            assert_eq!(own.read::<String>().unwrap(), wanted);
        }
    }
    wanted
}

#[test]
fn threads_that_write_texts_lose_nothing() {
    for (bytes, filtered) in [(1 << 20, true), (2000, true), (2000, false), (0, true)] {
        let storage = Arc::new(Memory::new());
        let cache = CacheConfig::default().bytes(bytes).reserve(0);
        let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        let new = root.new_dataset::<String>().shape([WRITERS, COLUMNS]).chunks([3, 7]);
        let shared = if filtered { new.deflate(1) } else { new }.create("shared").unwrap();
        let own: Vec<Dataset> = (0..WRITERS)
            .map(|nth| root.new_dataset::<String>().shape([COLUMNS]).chunks([9]).create(format!("own{nth}")).unwrap())
            .collect();
        let ended = AtomicBool::new(false);
        let wanted: Vec<Vec<String>> = std::thread::scope(|scope| {
            let writers: Vec<_> = own
                .iter()
                .zip(0..)
                .map(|(own, row)| {
                    let shared = &shared;
                    scope.spawn(move || write(row, shared, own))
                })
                .collect();
            let flusher = scope.spawn(|| {
                for nth in 0.. {
                    if ended.load(Ordering::Relaxed) {
                        break;
                    }
                    match nth % 4 {
                        0 => file.flush().unwrap(),
                        1 => shared.flush().unwrap(),
                        2 => shared.evict().unwrap(),
                        _ => {
                            // Whatever it is, it is a whole text.
                            let all = shared.read::<String>().unwrap();
                            assert!(all.iter().all(|text| text.is_empty() || text.contains(": ")));
                        }
                    }
                }
            });
            let wanted = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
            ended.store(true, Ordering::Relaxed);
            flusher.join().unwrap();
            wanted
        });
        drop((shared, own, root));
        file.close().unwrap();
        let file = OpenOptions::new().read_write().open_on(storage.clone()).unwrap();
        assert_eq!(file.dataset("shared").unwrap().read::<String>().unwrap(), wanted.concat());
        for (nth, wanted) in wanted.iter().enumerate() {
            assert_eq!(&file.dataset(format!("own{nth}")).unwrap().read::<String>().unwrap(), wanted);
        }
        let root = file.root().unwrap();
        root.names().unwrap().iter().for_each(|name| root.delete(name).unwrap());
        drop(root);
        file.close().unwrap();
        assert_eq!(collections(&storage), 0, "objects that no value names");
    }
}

/// A dataset that is deleted while threads write to it takes all of its objects along.
#[test]
fn a_dataset_that_is_deleted_takes_along_what_is_being_written() {
    for nth in 0..60 {
        let storage = Arc::new(Memory::new());
        let file = OpenOptions::new().create().truncate().open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        let new = || root.new_dataset::<String>().shape([COLUMNS]).chunks([9]).deflate(1).create("x").unwrap();
        let mut dataset = new();
        for turn in 0..4u64 {
            std::thread::scope(|scope| {
                let writers = [0, 1].map(|half| {
                    let dataset = dataset.clone();
                    scope.spawn(move || {
                        for nth in 0..40 {
                            let at = half * COLUMNS / 2 + nth % (COLUMNS / 2);
                            let _ = dataset.write_slice(at..=at, &[text(half, nth)]);
                        }
                    })
                });
                (0..nth * turn * 50).for_each(|_| std::hint::spin_loop());
                // The writers have the last handles.
                root.delete("x").unwrap();
                dataset = new();
                dataset.write(&vec!["of another dataset".to_string(); COLUMNS as usize]).unwrap();
                if turn % 2 == 0 {
                    file.flush().unwrap();
                }
                writers.into_iter().for_each(|writer| writer.join().unwrap());
            });
            assert!(dataset.read::<String>().unwrap().iter().all(|text| text == "of another dataset"));
        }
        root.delete("x").unwrap();
        drop((dataset, root));
        file.close().unwrap();
        assert_eq!(collections(&storage), 0, "objects that no value names");
    }
}
