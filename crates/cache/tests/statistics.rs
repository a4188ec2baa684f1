//! What is counted: for each dataset, and for all of them together.

use std::{sync::mpsc, thread, time::Duration};

use hyperslab_cache::{Cache, Config, Demand, Eviction, LockRange, Lookup, Partition, Statistics, Unwritten};

use crate::common::{BYTES, Hundred, at};

/// Brings a chunk into memory, if it is not there; others make room.
fn touch(cache: &Cache<Hundred>, partition: &Partition<Hundred>, coord: u64, dirty: bool) {
    let _reservation = partition.reserve(Demand { chunks: BYTES, aside: 0 });
    let Lookup::Miss(ticket) = partition.find(&at(coord)) else { return };
    loop {
        match cache.make_room(partition, BYTES) {
            Eviction::Granted(mut grant) => return drop(ticket.fill(Hundred, &mut grant, dirty)),
            Eviction::Dirty(taken) => taken.into_iter().for_each(|taken| taken.written()),
            Eviction::Full => panic!("all can be written"),
        }
    }
}

fn counts(seen: Statistics) -> [u64; 4] {
    [seen.hits, seen.misses, seen.evictions, seen.written]
}

fn sum(datasets: &[Partition<Hundred>]) -> [u64; 4] {
    datasets
        .iter()
        .map(|one| counts(one.statistics()))
        .fold([0; 4], |sum, one| std::array::from_fn(|n| sum[n] + one[n]))
}

#[test]
fn each_dataset_counts_for_itself_and_the_cache_has_the_sums() {
    let cache = Cache::new(Config::default().bytes(4 * BYTES).reserve(0).encode_ahead(false));
    let datasets = [(); 3].map(|()| cache.open(().into(), None, None));
    for step in 0..500u64 {
        // A walk that comes back to chunks sooner and later.
        let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        touch(&cache, &datasets[(mixed % 3) as usize], mixed / 3 % 3, mixed / 9 % 2 == 0);
    }
    assert_eq!(counts(cache.statistics()), sum(&datasets));
    assert_eq!(cache.statistics().hits + cache.statistics().misses, 500);
    assert_eq!(cache.statistics().bytes, datasets.iter().map(|one| one.statistics().bytes).sum::<usize>());
    for dataset in &datasets {
        let seen = dataset.statistics();
        let left = (seen.misses - seen.evictions) as usize * BYTES;
        assert_eq!((seen.datasets, seen.limit, seen.bytes), (1, 4 * BYTES, left));
        assert!(seen.bytes <= seen.peak_bytes && seen.peak_bytes <= 3 * BYTES && seen.peak_bytes > 0);
    }
}

#[test]
fn a_dataset_that_counts_anew_or_is_closed_leaves_the_sums_as_they_are() {
    let cache = Cache::new(Config::default().bytes(4 * BYTES));
    let (first, second) = (cache.open(().into(), None, None), cache.open(().into(), None, None));
    for coord in [0, 1, 0, 0] {
        touch(&cache, &first, coord, false);
        touch(&cache, &second, coord, false);
    }
    first.count_bypass(30);
    first.count_loads(2);
    first.decoded_for(Duration::from_millis(2));
    second.decoded_for(Duration::from_millis(3));
    let before = cache.statistics();
    assert_eq!((before.hits, before.misses, before.loads, before.bypasses, before.bypassed_bytes), (4, 4, 2, 1, 30));
    assert_eq!(before.decoding, Duration::from_millis(5));
    first.reset_statistics();
    let seen = first.statistics();
    assert_eq!((counts(seen), seen.loads, seen.bypasses, seen.decoding), ([0; 4], 0, 0, Duration::ZERO));
    assert_eq!((seen.bytes, seen.peak_bytes), (2 * BYTES, 2 * BYTES), "sizes stay");
    assert_eq!(cache.statistics(), before);
    touch(&cache, &second, 0, false);
    cache.close(&second);
    drop(second);
    assert_eq!(cache.statistics().hits, before.hits + 1);
    touch(&cache, &first, 0, false);
    assert_eq!((first.statistics().hits, cache.statistics().hits), (1, before.hits + 2));
}

#[test]
fn a_cache_that_counts_anew_forgets_its_peak_and_what_datasets_counted() {
    let cache = Cache::new(Config::default().bytes(4 * BYTES));
    let partition = cache.open(().into(), None, None);
    (0..4).for_each(|coord| touch(&cache, &partition, coord, false));
    partition.evict();
    touch(&cache, &partition, 0, false);
    cache.reset_statistics();
    let (all, one) = (cache.statistics(), partition.statistics());
    let expected = Statistics::default();
    assert_eq!((all.hits, all.misses, all.evictions, all.loads), (expected.hits, 0, 0, 0));
    assert_eq!((all.bytes, all.peak_bytes, one.bytes, one.peak_bytes), (BYTES, BYTES, BYTES, BYTES));
    assert_eq!(counts(one), [0; 4]);
}

#[test]
fn waits_are_counted_for_what_they_were() {
    let cache: Cache<Hundred> = Cache::new(Config::default().bytes(2 * BYTES).reserve(0));
    let partition = cache.open(().into(), None, None);
    let none = |seen: Statistics| [seen.chunk_waits, seen.memory_waits, seen.range_waits].map(|waits| waits.count);
    let pause = || thread::sleep(Duration::from_millis(20));

    // A range that another request has.
    let turn = partition.enter(LockRange::Whole, true);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| drop(partition.enter(LockRange::Whole, false)));
        pause();
        drop(turn);
        waiting.join().unwrap();
    });
    assert_eq!(none(partition.statistics()), [0, 0, 1]);

    // Memory that another request has reserved.
    let all = partition.reserve(Demand { chunks: 2 * BYTES, aside: 0 });
    thread::scope(|scope| {
        let waiting = scope.spawn(|| drop(partition.reserve(Demand { chunks: BYTES, aside: 0 })));
        pause();
        drop(all);
        waiting.join().unwrap();
    });
    assert_eq!(none(partition.statistics()), [0, 1, 1]);

    // A chunk that another thread loads.
    let Lookup::Miss(ticket) = partition.find(&at(0)) else { panic!("it is not there") };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let partition = &partition;
        let waiting = scope.spawn(move || {
            let Lookup::Loading(waiter) = partition.find(&at(0)) else { panic!("it is being loaded") };
            sender.send(()).unwrap();
            assert!(matches!(waiter.wait(), Lookup::Hit(_)));
        });
        receiver.recv().unwrap();
        pause();
        let Eviction::Granted(mut grant) = cache.make_room(partition, BYTES) else { panic!("there is room") };
        drop(ticket.fill(Hundred, &mut grant, true));
        waiting.join().unwrap();
    });
    assert_eq!(none(partition.statistics()), [1, 1, 1]);

    // A chunk that another thread writes.
    let taken = Unwritten::of_cache(&cache).take();
    thread::scope(|scope| {
        let left = Unwritten::of_cache(&cache);
        let waiting = scope.spawn(move || left.wait());
        pause();
        taken.into_iter().for_each(|taken| taken.written());
        waiting.join().unwrap();
    });
    let seen = partition.statistics();
    assert_eq!(none(seen), [2, 1, 1]);
    let least = Duration::from_millis(10);
    assert!(seen.chunk_waits.time >= 2 * least && seen.memory_waits.time >= least && seen.range_waits.time >= least);
    assert_eq!(cache.statistics().chunk_waits, seen.chunk_waits);

    // None of these waits.
    drop(partition.enter(LockRange::Whole, true));
    drop(partition.reserve(Demand { chunks: BYTES, aside: 0 }));
    assert!(matches!(partition.find(&at(0)), Lookup::Hit(_)));
    assert_eq!(none(partition.statistics()), [2, 1, 1]);
}
