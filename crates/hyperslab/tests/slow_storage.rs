//! Chunks without filters are read ahead of time where the storage has a latency, and nowhere else.

use std::{
    ops::Range,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions, ReadAhead,
    driver::{Counts, Driver, Log, Memory, Throttle},
    read_many, s,
};

/// Values of 32 KiB in a chunk.
const LENGTH: u64 = 4096;
const CHUNKS: u64 = 192;
const BYTES: u64 = CHUNKS * LENGTH * 8;

type Slow = Arc<Throttle<Arc<Log<Memory>>>>;

/// A dataset of values that are their own index, on a storage with or without latency.
fn storage(is_chunked: bool, latency: Duration) -> (Slow, Arc<Log<Memory>>) {
    let log = Arc::new(Log::new(Memory::new()));
    let file = File::create_on(log.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<u64>().shape([CHUNKS * LENGTH]);
    let new = if is_chunked { new.chunks([LENGTH]) } else { new };
    new.write("d", &(0..CHUNKS * LENGTH).collect::<Vec<_>>()).unwrap();
    file.close().unwrap();
    (Arc::new(Throttle::new(log.clone()).latency(latency).bandwidth(100_000_000)), log)
}

/// Reads a chunk after the other in an order: what was asked of the storage, and how long it took.
fn read(
    storage: &(Slow, Arc<Log<Memory>>),
    ahead: impl Into<ReadAhead>,
    order: impl Iterator<Item = u64>,
) -> (Counts, Duration) {
    read_by(storage, ahead, order, |dataset, range| {
        assert_eq!(dataset.read_slice::<u64>(s![range.start..range.end]).unwrap(), range.collect::<Vec<_>>());
    })
}

fn read_by(
    (slow, log): &(Slow, Arc<Log<Memory>>),
    ahead: impl Into<ReadAhead>,
    order: impl Iterator<Item = u64>,
    read: fn(&Dataset, Range<u64>),
) -> (Counts, Duration) {
    let cache = CacheConfig::default().bytes(16 << 20).read_ahead(ahead);
    let file = OpenOptions::new().cache(cache).open_on(slow.clone() as Arc<dyn Driver>).unwrap();
    let dataset = file.dataset("d").unwrap();
    let one = |dataset: &Dataset, nth: u64| read(dataset, nth * LENGTH..(nth + 1) * LENGTH);
    one(&dataset, 0);
    log.clear();
    let begun = Instant::now();
    order.for_each(|nth| one(&dataset, nth));
    let time = begun.elapsed();
    file.close().unwrap();
    (log.counts(), time)
}

#[test]
fn chunks_without_filters_are_read_ahead_of_slow_storage() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    // Contiguous values are read in blocks of eight such chunks once they are used again, so less is won.
    for (is_chunked, part) in [(true, 0.5), (false, 0.9)] {
        let slow = storage(is_chunked, Duration::from_millis(4));
        let (alone, without) = read(&slow, false, 1..CHUNKS);
        // Latency times bandwidth are 400 kB, a dozen chunks.
        for ahead in [ReadAhead::Automatic, ReadAhead::Bytes(400_000)] {
            let (counts, with) = read(&slow, ahead, 1..CHUNKS);
            let about = format!("{is_chunked} {ahead:?}: {counts:?} in {with:?}, without {alone:?} in {without:?}");
            assert!((counts.reads as f64) < alone.reads as f64 * part, "{about}");
            assert!(counts.read_bytes <= alone.read_bytes + BYTES / 4, "{about}");
            assert!(with < without, "{about}");
        }
    }
}

/// Reads whose values are converted go on as others do, also where all that they want is in memory.
#[test]
fn values_that_are_converted_are_read_ahead() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let slow = storage(true, Duration::from_millis(4));
    let (as_stored, _) = read(&slow, ReadAhead::Bytes(400_000), 1..CHUNKS);
    let (converted, _) = read_by(&slow, ReadAhead::Bytes(400_000), 1..CHUNKS, |dataset, range| {
        let values = dataset.read_slice::<f64>(s![range.start..range.end]).unwrap();
        assert!(values.into_iter().eq(range.map(|value| value as f64)));
    });
    assert!(converted.reads < as_stored.reads * 5 / 3, "{converted:?}, as stored {as_stored:?}");
}

#[test]
fn nothing_is_read_ahead_without_latency_or_order() {
    let fast = storage(true, Duration::ZERO);
    let log = fast.1.clone();
    let fast = (Arc::new(Throttle::new(log.clone())), log);
    let (alone, _) = read(&fast, false, 1..CHUNKS);
    let (counts, _) = read(&fast, true, 1..CHUNKS);
    assert_eq!((counts.reads, counts.read_bytes), (alone.reads, alone.read_bytes));

    let slow = storage(true, Duration::from_millis(1));
    // Back, and forth in leaps.
    let orders: [fn() -> Vec<u64>; 3] = [
        || (1..CHUNKS).rev().collect(),
        || (1..CHUNKS).map(|nth| nth * 37 % CHUNKS).collect(),
        || (1..CHUNKS).step_by(3).collect(),
    ];
    for order in orders {
        let (alone, _) = read(&slow, false, order().into_iter());
        for ahead in [ReadAhead::Automatic, ReadAhead::Bytes(400_000)] {
            let (counts, _) = read(&slow, ahead, order().into_iter());
            assert_eq!((counts.reads, counts.read_bytes), (alone.reads, alone.read_bytes), "{ahead:?}");
        }
    }
}

/// A few values of each of several datasets: where a request takes long, one brings the chunks of all.
#[test]
fn parts_of_several_datasets_come_with_one_request() {
    let log = Arc::new(Log::new(Memory::new()));
    let file = File::create_on(log.clone()).unwrap();
    let names: Vec<String> = (0..8).map(|nth| format!("d{nth}")).collect();
    for name in &names {
        let new = file.root().unwrap().new_dataset::<u64>().shape([CHUNKS * LENGTH]).chunks([LENGTH]);
        new.write(name, &(0..CHUNKS * LENGTH).collect::<Vec<_>>()).unwrap();
    }
    file.close().unwrap();
    let requests = |latency: Duration| {
        let slow = Arc::new(Throttle::new(log.clone()).latency(latency).bandwidth(100_000_000));
        let cache = CacheConfig::default().bytes(16 << 20).read_ahead(false);
        let file = OpenOptions::new().cache(cache).open_on(slow as Arc<dyn Driver>).unwrap();
        let datasets: Vec<Dataset> = names.iter().map(|name| file.dataset(name).unwrap()).collect();
        // The indexes are in memory then, and it is known how long reads of several lengths take.
        for (nth, dataset) in datasets.iter().enumerate() {
            let chunks = 1 + nth as u64 % 2;
            dataset.read_slice::<u64>(s![..chunks * LENGTH]).unwrap();
        }
        let slices: Vec<_> =
            datasets.iter().map(|dataset| dataset.slice(s![5 * LENGTH..5 * LENGTH + 9]).unwrap()).collect();
        let parts: Vec<_> = datasets.iter().zip(&slices).map(|(dataset, slice)| (dataset, slice.selection())).collect();
        log.clear();
        for values in read_many::<u64>(&parts).unwrap() {
            assert!(values.into_iter().eq(5 * LENGTH..5 * LENGTH + 9));
        }
        log.counts().reads
    };
    assert_eq!(requests(Duration::from_millis(4)), 1);
    assert_eq!(requests(Duration::ZERO), 8);
}
