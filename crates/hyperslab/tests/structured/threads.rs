//! Threads that write and erase the only elements of a chunk, while others read, flush and evict it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use fastrand::Rng;
use hyperslab::{Dataset, File, check, driver::Memory, s};

use super::{
    defined, options,
    small::{self, Filters, Index},
};

/// Elements of one chunk, each changed by a thread of its own.
const ELEMENTS: [[u64; 2]; 3] = [[0, 0], [1, 2], [3, 1]];

/// Writes and erases an element, which reads back as it is then; its value at the end, if it is defined.
fn change(dataset: &Dataset, [row, column]: [u64; 2], seed: u64, rounds: usize) -> Option<i16> {
    let (mut random, mut now) = (Rng::with_seed(seed), None);
    let point = dataset.slice(s![row, column]).unwrap();
    for _ in 0..rounds {
        now = random.bool().then(|| random.i16(1..));
        match now {
            Some(value) => dataset.write_slice(s![row, column], &[value]).unwrap(),
            None => dataset.erase(point.selection()).unwrap(),
        }
        assert_eq!(dataset.read_slice::<i16>(s![row, column]).unwrap(), [now.unwrap_or(0)]);
        assert_eq!(dataset.defined(point.selection()).unwrap().npoints(), u64::from(now.is_some()));
    }
    now
}

/// Flushes, evicts and looks at all until the others are done.
fn disturb(file: &File, dataset: &Dataset, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        file.flush().unwrap();
        dataset.evict().unwrap();
        assert!(defined(dataset).iter().all(|coord| ELEMENTS.iter().any(|element| coord == element)));
        let values = dataset.read::<i16>().unwrap();
        assert!(values.iter().filter(|value| **value != 0).count() <= ELEMENTS.len());
    }
}

#[test]
fn the_last_element_of_a_chunk_comes_and_goes() {
    let rounds = hyperslab_workshop::cases("HYPERSLAB_ROUNDS", 300) as usize;
    for (index, filters) in Index::ALL.into_iter().flat_map(|index| Filters::ALL.map(|filters| (index, filters))) {
        let storage = Arc::new(Memory::new());
        let (file, dataset) = index.create((small::Kind::Sparse, filters), options(), storage.clone());
        let done = AtomicBool::new(false);
        let left = thread::scope(|scope| {
            scope.spawn(|| disturb(&file, &dataset, &done));
            let dataset = &dataset;
            let changes = |(seed, element)| scope.spawn(move || change(dataset, element, seed, rounds));
            let changes: Vec<_> = (1..).zip(ELEMENTS).map(changes).collect();
            let left: Vec<_> = changes.into_iter().map(|change| change.join()).collect();
            done.store(true, Ordering::Relaxed);
            left.into_iter().map(|left| left.unwrap()).collect::<Vec<_>>()
        });
        drop(dataset);
        file.close().unwrap();
        let there: Vec<_> = ELEMENTS.iter().zip(&left).filter_map(|(at, value)| Some((at, (*value)?))).collect();
        let dataset = small::open(&small::bytes_of(&*storage)).unwrap();
        assert_eq!(defined(&dataset), there.iter().map(|(at, _)| at.to_vec()).collect::<Vec<_>>());
        for (at, value) in there {
            assert_eq!(dataset.read_slice::<i16>(s![at[0], at[1]]).unwrap(), [value]);
        }
        let report = check::storage(storage).unwrap();
        assert_eq!((report.problems().count(), report.lost), (0, 0), "{index:?}, {filters:?}: {report:?}");
    }
}

/// Elements that are defined throughout, with values of many rounds, and elements that come and go beside them.
#[test]
fn what_is_defined_throughout_never_reads_as_the_fill_value() {
    let rounds = hyperslab_workshop::cases("HYPERSLAB_ROUNDS", 300);
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new = file.root().unwrap().new_dataset::<u32>().shape([40, 60]).chunks([7, 9]).sparse().fill_value(0u32);
    let dataset = new.deflate(1).create("a").unwrap();
    let stays = s![5..35;5, ..;3];
    let count = dataset.slice(stays.clone()).unwrap().len() as usize;
    dataset.write_slice(stays.clone(), &vec![1u32; count]).unwrap();
    let stays = dataset.slice(stays).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            let others = dataset.slice(s![.., 1..;3]).unwrap();
            for round in 1..=rounds as u32 {
                dataset.write_selection(stays.selection(), &vec![round; count]).unwrap();
                match round % 3 {
                    0 => dataset.erase(others.selection()).unwrap(),
                    1 => dataset.write_selection(others.selection(), &vec![round; others.len() as usize]).unwrap(),
                    _ => dataset.evict().unwrap(),
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let (elements, values) = dataset.read_defined::<u32>(&dataset.space()).unwrap();
            assert_eq!(elements.len() as usize, values.len());
            assert!(values.iter().all(|value| *value > 0));
            let (elements, values) = dataset.read_defined::<u32>(stays.selection()).unwrap();
            assert_eq!(elements.to_space().unwrap(), stays.selection().to_set().unwrap());
            // One write wrote all of them.
            assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
        }
        others.join().unwrap();
    });
}
