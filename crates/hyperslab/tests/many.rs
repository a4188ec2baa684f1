//! Several datasets in one call: values beside arrays in memory, requests to the storage, and threads that must not wait for each other.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, Error, File, OpenOptions,
    driver::{Log, Memory, Operation},
    read_many, s,
    space::{Op, Slab, Space},
    write_many,
};

const SIDE: u64 = 24;
const ALL: usize = (SIDE * SIDE) as usize;

/// A box of a dataset, and where it is in the array beside it.
fn part(rng: &mut Rng) -> (Space, Vec<usize>) {
    let mut side = || {
        let start = rng.u64(..SIDE);
        (start, rng.u64(1..=SIDE - start))
    };
    let ((row, rows), (column, columns)) = (side(), side());
    let mut space = Space::simple(&[SIDE, SIDE]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::block(row, rows), Slab::block(column, columns)]).unwrap();
    let places = (row..row + rows).flat_map(|row| (column..column + columns).map(move |at| (row * SIDE + at) as usize));
    (space, places.collect())
}

/// Datasets of all kinds in a file.
fn make(file: &File, count: usize) -> Vec<Dataset> {
    let root = file.root().unwrap();
    let make = |nth: usize| {
        let new = root.new_dataset::<i32>().shape([SIDE, SIDE]);
        let new = match nth % 4 {
            0 => new.chunks([5, 7]).deflate(1),
            1 => new.chunks([8, 8]),
            2 => new.contiguous(),
            _ => new.compact(),
        };
        new.create(format!("d{nth}")).unwrap()
    };
    (0..count).map(make).collect()
}

#[test]
fn values_are_those_of_arrays_in_memory() {
    for seed in 0..12 {
        let mut rng = Rng::with_seed(seed);
        let cache = CacheConfig::default().bytes([0, 140, 2000, 1 << 20][rng.usize(..4)]);
        let files: Vec<File> = (0..2)
            .map(|_| OpenOptions::new().create().truncate().cache(cache).open_on(Arc::new(Memory::new())).unwrap())
            .collect();
        let datasets: Vec<Dataset> = files.iter().flat_map(|file| make(file, 8)).collect();
        let mut twins = vec![vec![0i32; ALL]; datasets.len()];
        for _ in 0..60 {
            let parts: Vec<_> = (0..rng.usize(1..9)).map(|_| (rng.usize(..datasets.len()), part(&mut rng))).collect();
            if rng.bool() {
                let values: Vec<Vec<i32>> =
                    parts.iter().map(|(_, (_, places))| places.iter().map(|_| rng.i32(..)).collect()).collect();
                let given: Vec<(&Dataset, &Space, &[i32])> = parts
                    .iter()
                    .zip(&values)
                    .map(|((nth, (space, _)), values)| (&datasets[*nth], space, values.as_slice()))
                    .collect();
                write_many(&given).unwrap();
                for ((nth, (_, places)), values) in parts.iter().zip(&values) {
                    places.iter().zip(values).for_each(|(place, value)| twins[*nth][*place] = *value);
                }
            } else {
                let wanted: Vec<_> = parts.iter().map(|(nth, (space, _))| (&datasets[*nth], space)).collect();
                for (values, (nth, (_, places))) in read_many::<i32>(&wanted).unwrap().iter().zip(&parts) {
                    assert_eq!(*values, places.iter().map(|place| twins[*nth][*place]).collect::<Vec<_>>());
                }
            }
            files.iter().for_each(|file| {
                let seen = file.cache_statistics();
                assert!(seen.peak_bytes <= cache.limits().active, "{seen:?}");
            });
        }
    }
}

/// Ten datasets that are in the file and not in the cache; so many of them have filters.
fn ten_datasets(filtered: i32) -> (Arc<Log<Memory>>, File, Vec<Dataset>) {
    let log = Arc::new(Log::new(Memory::new()));
    let cache = CacheConfig::default().bytes(1 << 20);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(log.clone()).unwrap();
    let make = |nth: i32| {
        let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).chunks([8, 8]);
        let new = if nth < filtered { new.deflate(1) } else { new };
        let dataset = new.create(format!("d{nth}")).unwrap();
        dataset.write(&[nth; ALL]).unwrap();
        dataset.evict().unwrap();
        dataset
    };
    let datasets = (0..10).map(make).collect();
    file.flush().unwrap();
    (log, file, datasets)
}

#[test]
fn chunks_without_filters_come_with_one_request_too() {
    let (log, _file, datasets) = ten_datasets(1);
    let (all, corner) = (datasets[0].slice(s![.., ..]).unwrap(), datasets[0].slice(s![0, 0]).unwrap());
    let chunks = SIDE.div_ceil(8).pow(2) as usize;
    let read = |selection: &Space| {
        let parts: Vec<_> = datasets.iter().map(|dataset| (dataset, selection)).collect();
        log.clear();
        let values = read_many::<i32>(&parts).unwrap();
        let same = vec![0; selection.npoints() as usize];
        assert!(
            values.iter().zip(0..).all(|(values, nth)| values.len() == same.len() && values.iter().all(|v| *v == nth))
        );
        log.records().iter().map(|record| (record.operation, record.parts.len())).collect::<Vec<_>>()
    };
    // Of chunks of which little is wanted, that is read alone.
    let records = read(corner.selection());
    assert_eq!(records.first(), Some(&(Operation::ReadVector, 1)), "{records:?}");
    assert_eq!(records.len(), 10);
    datasets.iter().for_each(|dataset| dataset.evict().unwrap());
    assert_eq!(read(all.selection()), [(Operation::ReadVector, 10 * chunks)]);
}

#[test]
fn chunks_of_all_datasets_come_with_one_request() {
    let (log, file, datasets) = ten_datasets(10);
    let requests = |log: &Log<Memory>| -> Vec<(Operation, usize)> {
        let records = log.records();
        log.clear();
        records.iter().map(|record| (record.operation, record.parts.len())).collect()
    };
    let column = datasets[0].slice(s![.., 9]).unwrap().selection().clone();
    let parts: Vec<_> = datasets.iter().map(|dataset| (dataset, &column)).collect();
    log.clear();
    let values = read_many::<i32>(&parts).unwrap();
    assert_eq!(values, (0..10).map(|nth| vec![nth; SIDE as usize]).collect::<Vec<_>>());
    assert_eq!(requests(&log), [(Operation::ReadVector, 30)]);
    read_many::<i32>(&parts).unwrap();
    assert_eq!(requests(&log), []);

    // Two of three chunks of each are written as a whole, and are not read for that.
    datasets.iter().for_each(|dataset| dataset.evict().unwrap());
    let block = datasets[0].slice(s![..20, 8..16]).unwrap().selection().clone();
    let values = vec![-1; 160];
    let given: Vec<_> = datasets.iter().map(|dataset| (dataset, &block, values.as_slice())).collect();
    log.clear();
    write_many(&given).unwrap();
    assert_eq!(requests(&log), [(Operation::ReadVector, 10)]);
    file.flush().unwrap();
    let flushed = requests(&log);
    assert_eq!(flushed[0], (Operation::WriteVector, 30), "{flushed:?}");
    for (dataset, nth) in datasets.iter().zip(0..) {
        let mut twin = vec![nth; SIDE as usize];
        twin[8..16].fill(-1);
        assert_eq!(dataset.read_slice::<i32>(s![19, ..]).unwrap(), twin);
    }
}

#[test]
fn what_is_wrong_is_found_out_before_anything_is_written() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let datasets = make(&file, 2);
    let whole = datasets[0].space();
    let (right, short) = (vec![1; ALL], vec![1; 3]);
    let old = {
        let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).max_shape([None, None]);
        let dataset = new.create("grows").unwrap();
        dataset.resize([SIDE, SIDE + 1]).unwrap();
        dataset
    };
    let text = file.root().unwrap().new_dataset::<String>().shape([SIDE, SIDE]).create("text").unwrap();
    for (dataset, values) in [(&datasets[1], &short), (&old, &right), (&text, &right)] {
        let error = write_many(&[(&datasets[0], &whole, right.as_slice()), (dataset, &whole, values.as_slice())]);
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Part { nth: 1, written: 0, .. }), "{error}");
        assert_eq!(datasets[0].read::<i32>().unwrap(), vec![0; ALL]);
    }
    // What has no name is written through its handle.
    file.root().unwrap().delete("d1").unwrap();
    write_many(&[(&datasets[0], &whole, right.as_slice()), (&datasets[1], &whole, right.as_slice())]).unwrap();
    assert_eq!(read_many::<i32>(&[(&datasets[0], &whole), (&datasets[1], &whole)]).unwrap(), [right.clone(), right]);
}

#[test]
fn texts_and_virtual_datasets_go_with_others() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let datasets = make(&file, 2);
    let (root, whole) = (file.root().unwrap(), datasets[0].space());
    let text = root.new_dataset::<String>().shape([SIDE, SIDE]).chunks([8, 8]).deflate(1).create("text").unwrap();
    let words: Vec<String> = (0..ALL).map(|nth| "x".repeat(nth % 9)).collect();
    write_many(&[(&text, &whole, words.as_slice())]).unwrap();
    assert_eq!(read_many::<String>(&[(&text, &whole), (&text, &whole)]).unwrap(), [words.clone(), words]);

    let shown = root.new_dataset::<i32>().shape([SIDE, SIDE]).virtual_source(&whole, ".", "d0", &whole);
    let shown = shown.create("shown").unwrap();
    let (ones, twos) = (vec![1; ALL], vec![2; ALL]);
    write_many(&[(&shown, &whole, ones.as_slice()), (&datasets[1], &whole, &twos)]).unwrap();
    let seen = read_many::<i32>(&[(&shown, &whole), (&datasets[0], &whole), (&datasets[1], &whole)]).unwrap();
    assert_eq!(seen, [ones.clone(), ones, twos]);
}

/// Writers give the same number to the same box of several datasets at once, named in any order: readers see one number in all.
#[test]
fn calls_do_not_wait_for_each_other_and_see_each_other_as_a_whole() {
    let cache = CacheConfig::default().bytes(4000);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(Arc::new(Memory::new())).unwrap();
    let new = |nth: usize| {
        let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).chunks([5, 7]);
        if nth.is_multiple_of(2) { new.deflate(1) } else { new }.create(format!("d{nth}")).unwrap()
    };
    let (datasets, done): (Vec<Dataset>, _) = ((0..6).map(new).collect(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (datasets, done) = (&datasets, &done);
                scope.spawn(move || {
                    let (mut rng, mut count, mut order) = (Rng::with_seed(thread), 0, (0..6).collect::<Vec<_>>());
                    let (whole, center) = (datasets[0].space(), datasets[0].slice(s![4..20, 3..18]).unwrap());
                    // Each thread gets its turns, however slow the machine is.
                    while count < 6 || !done.load(Ordering::Relaxed) {
                        rng.shuffle(&mut order);
                        if rng.bool() {
                            let values = vec![rng.i32(..); ALL];
                            let parts: Vec<_> =
                                order.iter().map(|&nth| (&datasets[nth], &whole, values.as_slice())).collect();
                            write_many(&parts).unwrap();
                        } else {
                            let parts: Vec<_> = order.iter().map(|&nth| (&datasets[nth], center.selection())).collect();
                            let seen = read_many::<i32>(&parts).unwrap();
                            assert!(seen.iter().flatten().all(|value| *value == seen[0][0]), "{seen:?}");
                        }
                        count += 1;
                    }
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        done.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
