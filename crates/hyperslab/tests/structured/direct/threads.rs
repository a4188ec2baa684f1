//! Threads that store whole chunks past the filters, while others write, read, flush and evict them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, check, driver::Memory, s, space::Space};

use super::{
    super::{
        options,
        small::{self, Filters, Index},
    },
    before_filters, sparse_chunk,
};

/// Each chunk has one value in all of its elements, or none in any of them.
fn is_one(values: &[i16]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// Gives all elements of a chunk another value, through the cache or past the filters.
fn change(dataset: &Dataset, rounds: usize, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let whole = Space::simple(&[4, 3]).unwrap();
    for _ in 0..rounds {
        let [row, column] = [0, random.u64(0..2)];
        let part = s![4 * row..4 * row + 4, 3 * column..3 * column + 3];
        let value = random.i16(1..);
        match random.u8(0..4) {
            0 => dataset.write_slice(part, &[value; 12]).unwrap(),
            1 => dataset.erase(dataset.slice(part).unwrap().selection()).unwrap(),
            _ => {
                let chunk = sparse_chunk(dataset, &whole, &[value; 12], random.u32(0..8));
                dataset.write_structured_chunk([row, column], &chunk).unwrap();
            }
        }
    }
}

fn look(dataset: &Dataset, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        for column in 0..2 {
            let values = dataset.read_slice::<i16>(s![0..4, 3 * column..3 * column + 3]).unwrap();
            assert!(is_one(&values), "{values:?}");
            if let Some(chunk) = dataset.read_structured_chunk([0, column]).unwrap() {
                let values = before_filters(dataset, 1, &chunk.sections[1]);
                assert_eq!(values.len(), 24);
                assert!(values.chunks_exact(2).all(|value| value == &values[..2]), "{values:?}");
            }
        }
        assert!(dataset.structured_chunks().unwrap().all(|info| info.place[0] == 0));
    }
}

#[test]
fn each_chunk_is_as_one_thread_left_it() {
    let rounds = hyperslab_workshop::cases("HYPERSLAB_ROUNDS", 200) as usize;
    for (index, filters) in [Index::FixedArray, Index::ExtensibleArray, Index::BtreeV2]
        .into_iter()
        .flat_map(|index| Filters::ALL.map(|filters| (index, filters)))
    {
        for bytes in [0, 700, 1 << 20] {
            let storage = Arc::new(Memory::new());
            let cache = CacheConfig::default().bytes(bytes).adaptive(bytes, bytes);
            let (file, dataset) = index.create((small::Kind::Sparse, filters), options().cache(cache), storage.clone());
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                let disturb = || {
                    while !done.load(Ordering::Relaxed) {
                        file.flush().unwrap();
                        dataset.evict().unwrap();
                    }
                };
                scope.spawn(disturb);
                scope.spawn(|| look(&dataset, &done));
                let changes = [1, 2].map(|seed| {
                    let dataset = &dataset;
                    scope.spawn(move || change(dataset, rounds, seed))
                });
                let ended = changes.map(|change| change.join());
                done.store(true, Ordering::Relaxed);
                ended.into_iter().for_each(|ended| ended.unwrap());
            });
            let values = dataset.read::<i16>().unwrap();
            drop(dataset);
            file.close().unwrap();
            assert_eq!(small::open(&small::bytes_of(&*storage)).unwrap().read::<i16>().unwrap(), values);
            let report = check::storage(storage).unwrap();
            assert_eq!((report.problems().count(), report.lost), (0, 0), "{index:?}, {filters:?}: {report:?}");
        }
    }
}
